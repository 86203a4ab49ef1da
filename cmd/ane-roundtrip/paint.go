package main

import (
	"io"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// paint colors a status or verdict on a terminal: green for pass, red for fail, yellow for skip
// and unavailable.
func paint(w io.Writer, status string) string {
	if !page.Colored(w) {
		return status
	}
	switch status {
	case trial.Pass:
		return page.Green.Paint(status)
	case trial.Fail:
		return page.Red.Paint(status)
	case trial.Skip, verdictUnavailable:
		return page.Yellow.Paint(status)
	}
	return status
}
