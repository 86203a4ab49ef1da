package weightbench

import (
	_ "embed" // the tables
	"encoding/json"
	"time"
)

// Paper has tables of the OptMLX paper, measured with MLX on an M4 Max.
type Paper struct {
	Variants []Variant  `json:"variants,omitempty"` // tables 1 to 3
	Reserve  []Reserved `json:"reserve"`            // table 4
}

// Variant is a row of tables 1 to 3: a model of Qwen3. Pairs are standard loading, by pread, and mmap.
type Variant struct {
	Model    string           `json:"model"`
	GB       float64          `json:"gb"`           // table 1
	Load     [2]time.Duration `json:"load_ns"`      // table 2, of weights alone
	Speedup  float64          `json:"speedup"`      // as printed
	Start    [2]time.Duration `json:"start_ns"`     // table 3, with the model's start
	Prompt   [2]float64       `json:"prompt_per_s"` // in tokens
	Generate [2]float64       `json:"generate_per_s"`
	Peak     [2]float64       `json:"peak_gb"`
}

// Reserved is a row of table 4.
type Reserved struct {
	Model    string        `json:"model"`
	Mode     string        `json:"mode"`         // dynamic, or the tokens reserved
	First    time.Duration `json:"first_ns"`     // latency of the first token
	Prompt   float64       `json:"prompt_per_s"` // in tokens
	Generate float64       `json:"generate_per_s"`
	Peak     float64       `json:"peak_gb"`
	Delta    float64       `json:"delta_gb"` // beyond dynamic
}

//go:embed paper.json
var paper []byte

// Published returns the tables.
func Published() (p Paper) {
	if err := json.Unmarshal(paper, &p); err != nil {
		panic("BUG: " + err.Error())
	}
	return p
}
