package ane

import "time"

// Result is what one Evaluate tells.
type Result struct {
	Receipt *Receipt      // shared by all results of a Model; do not change
	Elapsed time.Duration // from the call to the engine until its return
	QoS     QoS           // that of Request.SetQoS; 0 where none was set
}

// Receipt says what answered. A software engine can never call itself apple,
// and nothing falls back without saying why.
type Receipt struct {
	Engine   string   `json:"name"`
	Chip     string   `json:"chip"`
	OSBuild  string   `json:"os_build"`
	Numerics string   `json:"numerics"`
	Sharing  string   `json:"sharing"`
	Cached   bool     `json:"cached"`
	Fallback string   `json:"fallback,omitempty"` // why this is not the first choice
	Notes    []string `json:"notes,omitempty"`
}
