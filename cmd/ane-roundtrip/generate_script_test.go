package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/anekit/anekit/internal/decodertest"
)

// makeModel writes a small random language model: mkmodel FOLDER [family=NAME] [seed=N] [bits=N] [positions=N]
// [vocabulary=N] [shards=N] [tokenizer=FILE] [leave=TENSOR] [nan=TENSOR] [config.KEY=JSON].
func makeModel(ts *testscript.TestScript, _ bool, args []string) {
	spec := decodertest.Spec{Config: map[string]any{}}
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		number := func() int {
			n, err := strconv.Atoi(value)
			ts.Check(err)
			return n
		}
		switch name, ok := strings.CutPrefix(key, "config."); {
		case ok:
			var v any
			ts.Check(json.Unmarshal([]byte(value), &v))
			spec.Config[name] = v
		case key == "family":
			spec.Family = decodertest.Family(value)
		case key == "seed":
			spec.Seed = uint64(number())
		case key == "bits":
			spec.Bits = number()
		case key == "positions":
			spec.Positions = number()
		case key == "vocabulary":
			spec.Vocabulary = number()
		case key == "shards":
			spec.Shards = number()
		case key == "tokenizer":
			spec.Tokenizer = []byte(ts.ReadFile(value))
		case key == "leave":
			spec.Leave = value
		case key == "nan":
			spec.Weights = func(name string, values []float64) {
				if name == value {
					values[len(values)/2] = math.NaN()
				}
			}
		default:
			ts.Fatalf("mkmodel has no %s", key)
		}
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.MkdirAll(dir, 0o700))
	_, err := decodertest.Write(dir, spec)
	ts.Check(err)
}

// joinedFiles compares a file of one line with others, joined by blanks: joined WHOLE PART ...
func joinedFiles(ts *testscript.TestScript, _ bool, args []string) {
	var parts []string
	for _, name := range args[1:] {
		parts = append(parts, strings.TrimSuffix(ts.ReadFile(name), "\n"))
	}
	if got := strings.Join(parts, " ") + "\n"; got != ts.ReadFile(args[0]) {
		ts.Fatalf("%q joined, %q in %s", got, ts.ReadFile(args[0]), filepath.Base(args[0]))
	}
}

// flipBit changes a bit of a file, or of its last byte if it is shorter: flip FILE OFFSET.
func flipBit(ts *testscript.TestScript, _ bool, args []string) {
	text := bytes.Clone([]byte(ts.ReadFile(args[0])))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	text[min(at, len(text)-1)] ^= 4
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
