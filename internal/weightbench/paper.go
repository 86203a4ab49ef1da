package weightbench

import (
	"encoding/json"
	"math"
)

// Seconds is a duration in seconds. In JSON it is a number of nanoseconds, as all durations.
type Seconds float64

// MarshalJSON writes whole nanoseconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(int64(math.Round(1e9 * float64(s))))
}

// Variant is a row of the paper's tables 1 to 3: a model of Qwen3. Pairs are standard loading, by
// pread, and mmap.
type Variant struct {
	Model    string     `json:"model"`
	GB       float64    `json:"gb"`           // table 1
	Load     [2]Seconds `json:"load_ns"`      // table 2, of weights alone
	Speedup  float64    `json:"speedup"`      // as printed
	Start    [2]Seconds `json:"start_ns"`     // table 3, with the model's start
	Prompt   [2]float64 `json:"prompt_per_s"` // in tokens
	Generate [2]float64 `json:"generate_per_s"`
	Peak     [2]float64 `json:"peak_gb"`
}

// Variants returns tables 1 to 3.
func Variants() []Variant {
	return []Variant{
		{"Qwen3-4B-4bit", 2.11, [2]Seconds{0.101, 0.131}, 0.77, [2]Seconds{0.89, 0.85}, [2]float64{189.1, 188.6},
			[2]float64{56.9, 58.5}, [2]float64{2.38, 2.38}},
		{"Qwen3-4B-8bit", 3.98, [2]Seconds{0.184, 0.246}, 0.75, [2]Seconds{1.31, 0.98}, [2]float64{165.8, 159.7},
			[2]float64{41.0, 42.0}, [2]float64{4.37, 4.37}},
		{"Qwen3-8B-3bit", 3.34, [2]Seconds{0.146, 0.075}, 1.95, [2]Seconds{1.22, 0.69}, [2]float64{100.8, 92.3},
			[2]float64{29.9, 29.4}, [2]float64{4.37, 4.37}},
		{"Qwen3-8B-4bit", 4.29, [2]Seconds{0.352, 0.328}, 1.07, [2]Seconds{1.34, 1.03}, [2]float64{89.8, 100.7},
			[2]float64{30.1, 30.1}, [2]float64{4.72, 8.82}},
		{"Qwen3-8B-6bit", 6.20, [2]Seconds{0.637, 0.435}, 1.46, [2]Seconds{2.00, 1.29}, [2]float64{86.7, 75.7},
			[2]float64{20.7, 20.7}, [2]float64{8.82, 8.82}},
		{"Qwen3-8B-8bit", 8.11, [2]Seconds{2.572, 0.125}, 20.65, [2]Seconds{3.04, 0.77}, [2]float64{64.4, 80.6},
			[2]float64{21.6, 21.3}, [2]float64{8.82, 8.84}},
		{"Qwen3-14B-4bit", 7.74, [2]Seconds{2.323, 0.535}, 4.34, [2]Seconds{1.95, 1.01}, [2]float64{43.4, 43.2},
			[2]float64{16.2, 16.5}, [2]float64{8.84, 11.09}},
		{"Qwen3-14B-6bit", 11.18, [2]Seconds{3.701, 5.388}, 0.69, [2]Seconds{3.41, 3.07}, [2]float64{39.7, 37.0},
			[2]float64{12.1, 12.0}, [2]float64{12.08, 12.16}},
	}
}

// Reserved is a row of the paper's table 4.
type Reserved struct {
	Model    string  `json:"model"`
	Mode     string  `json:"mode"`         // dynamic, or the tokens reserved
	First    Seconds `json:"first_ns"`     // latency of the first token
	Prompt   float64 `json:"prompt_per_s"` // in tokens
	Generate float64 `json:"generate_per_s"`
	Peak     float64 `json:"peak_gb"`
	Delta    float64 `json:"delta_gb"` // beyond dynamic
}

// Reservations returns table 4.
func Reservations() []Reserved {
	return []Reserved{
		{"4B-4bit", "dynamic", 0.2604, 200.4, 62.0, 2.221, 0},
		{"4B-4bit", "2048", 0.2762, 183.5, 63.0, 2.471, 0.250},
		{"4B-4bit", "4096", 0.2852, 171.9, 62.3, 2.736, 0.515},
		{"8B-4bit", "dynamic", 0.4192, 100.5, 31.3, 4.395, 0},
		{"8B-4bit", "2048", 0.428, 99.1, 30.3, 4.633, 0.238},
		{"8B-4bit", "4096", 0.4361, 98.0, 29.7, 4.908, 0.513},
		{"14B-4bit", "dynamic", 0.8596, 44.1, 16.7, 7.827, 0},
		{"14B-4bit", "2048", 0.9174, 41.1, 16.0, 8.101, 0.274},
		{"14B-4bit", "4096", 0.9015, 41.7, 16.1, 8.414, 0.587},
	}
}
