package main

import "github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"

// visible returns s with invisible and control characters escaped as in Go.
func visible(s string) string { return page.Visible(s) }
