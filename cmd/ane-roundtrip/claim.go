package main

import "strings"

// claim is what a verdict says about the engines as a whole. A claim that no check showed is not part of a pass.
type claim struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	By     []string `json:"by"` // the checks that show or refute it, or that could not show it here
}

// Values of claim.Status.
const (
	claimShown    = "shown"
	claimNotShown = "not shown"
	claimRefuted  = "refuted"
)

// words are the claim as a line of the verdict. It names three checks at most; the table has the others.
func (c claim) words() string {
	const most = 3
	checks := strings.Join(c.By, ", ")
	if more := len(c.By) - most; more > 0 {
		checks = strings.Join(c.By[:most], ", ") + " and " + counted(more, "other check", "other checks")
	}
	how := " by "
	if c.Status == claimNotShown {
		how = " here, for want of "
	}
	return strings.ReplaceAll(c.Name, "-", " ") + ": " + c.Status + how + checks
}
