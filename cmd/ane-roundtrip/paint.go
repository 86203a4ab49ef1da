package main

import (
	"io"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// paint colours a status or verdict on a terminal: green where all is well, red where it
// is not, yellow where that could not be told.
func paint(w io.Writer, status string) string {
	if !page.Coloured(w) {
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
