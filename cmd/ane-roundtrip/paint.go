package main

import (
	"io"
	"os"

	"github.com/fatih/color"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// paint colours a status on a terminal: green where all is well, red where it is
// not. NO_COLOR and TERM=dumb turn it off, as do files and pipes.
func (a *app) paint(w io.Writer, status string) string {
	_, tty := watched(w)
	if !tty || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return status
	}
	c := color.New(color.FgYellow)
	switch status {
	case trial.Pass:
		c = color.New(color.FgGreen)
	case trial.Fail:
		c = color.New(color.FgRed, color.Bold)
	}
	c.EnableColor() // standard output need not be what w is
	return c.Sprint(status)
}
