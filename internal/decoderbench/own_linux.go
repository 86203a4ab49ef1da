//go:build !macrules

package decoderbench

import (
	"os"
	"strconv"
	"strings"
)

// own is the memory of this process that is resident, without mapped files.
func own() (n int64) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && (f[0] == "RssAnon:" || f[0] == "RssShmem:") {
			kib, _ := strconv.ParseInt(f[1], 10, 64) // 0 if not a number
			n += kib << 10
		}
	}
	return n
}
