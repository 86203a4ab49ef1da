package weightbench

import (
	_ "embed" // the tables
	"encoding/json"
)

//go:embed paper.json
var paper []byte

// Paper has tables of the OptMLX paper, measured with MLX on an M4 Max. Pairs in them are standard loading, by pread,
// and mmap.
type Paper struct {
	Variants json.RawMessage `json:"variants,omitempty"` // tables 1 to 3: models of Qwen3
	Reserve  json.RawMessage `json:"reserve"`            // table 4: dynamic caches, and some of reserved tokens
}

// Published returns the tables.
func Published() (p Paper) {
	if err := json.Unmarshal(paper, &p); err != nil {
		panic("BUG: " + err.Error())
	}
	return p
}
