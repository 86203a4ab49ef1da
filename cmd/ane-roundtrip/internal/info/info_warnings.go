package info

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/objcbridge"
)

// safeMajor is the number that the builds of macOS 27 begin with: 26A434.
const safeMajor = 26

// twoEngines warns of what the dump m3ultra-power-transition records of an M3 Ultra: build 25F84 of macOS 26.5.2 and
// earlier ones admit a request while the engine powers up or down, and macOS 27 refuses it.
const twoEngines = "this machine has two Neural Engines, and its macOS is older than 27: an evaluation or a load while an " +
	"engine powers up or down may panic the machine, as on an M3 Ultra up to macOS 26.5.2; macOS 27 refuses such a run, " +
	"and anekit tries it again"

// warnings returns what is dangerous on the machine that a framework describes.
func warnings(r objcbridge.Report) []string {
	if r.Device == nil || engines(r) < 2 || !older(r.Device.Build, safeMajor) {
		return nil
	}
	return []string{twoEngines}
}

// engines returns the number of Neural Engines: the framework's, or that of the registry where it is larger.
func engines(r objcbridge.Report) int {
	n := r.Device.Engines
	at := slices.IndexFunc(r.Registry, func(p objcbridge.Property) bool { return p.Name == "ANEDevicePropertyNumANEs" })
	if at >= 0 {
		if m, err := strconv.Atoi(r.Registry[at].Value); err == nil {
			n = max(n, m)
		}
	}
	return n
}

// older reports whether a build of macOS begins with a number below major. A text that is no build is not.
func older(build string, major int) bool {
	end := strings.IndexFunc(build, func(c rune) bool { return c < '0' || c > '9' })
	if end < 1 {
		return false
	}
	n, err := strconv.Atoi(build[:end])
	return err == nil && n < major
}
