package cli

import "strings"

// Claim is what a verdict says about the engines as a whole. A claim that no check showed is not part of a pass.
type Claim struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	By     []string `json:"by"` // the checks that show or refute it, or that could not show it here
}

// Values of claim.Status.
const (
	ClaimShown    = "shown"
	ClaimNotShown = "not shown"
	ClaimRefuted  = "refuted"
)

// Words are the claim as a line of the verdict. It names three checks at most; the table has the others.
func (c Claim) Words() string {
	const most = 3
	checks := strings.Join(c.By, ", ")
	if more := len(c.By) - most; more > 0 {
		checks = strings.Join(c.By[:most], ", ") + " and " + Counted(more, "other check", "other checks")
	}
	how := " by "
	if c.Status == ClaimNotShown {
		how = " here, for want of "
	}
	return strings.ReplaceAll(c.Name, "-", " ") + ": " + c.Status + how + checks
}
