package tokenizer_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models/decoder/tokenizer"
)

// A text becomes tokens, and tokens become text as they come.
func Example() {
	dir := ane.Must(os.MkdirTemp("", "model"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tokenizer.json")
	ane.Must(0, os.WriteFile(path, []byte(`{
		"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<0xC3>": 3, "<0xA9>": 4}, "merges": ["a b"],
			"byte_fallback": true},
		"decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}}`), 0o600))

	t := ane.Must(tokenizer.Read(path))
	stream := t.Stream()
	for _, id := range ane.Must(t.Encode("abé")) {
		name, _ := t.Token(id)
		fmt.Printf("%d %s %q\n", id, name, stream.Next(id))
	}
	fmt.Printf("%q %q\n", stream.Flush(), t.Decode([]int{2, 3}))
	// Output:
	// 2 ab "ab"
	// 3 <0xC3> ""
	// 4 <0xA9> "é"
	// "" "ab�"
}
