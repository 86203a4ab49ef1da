package driver

import "sync/atomic"

// entitlements are what a client may do besides what every client does. Each call reads them.
type entitlements struct{ realTime, chaining atomic.Bool }

// Entitle replaces ClientInfo.RealTime and ClientInfo.AllowDataChaining, for the calls that follow.
// Requests that were accepted run to their end; a chain ends before its next step.
func (c *Client) Entitle(realTime, chaining bool) {
	if !c.alive() {
		return
	}
	c.entitled.realTime.Store(realTime)
	c.entitled.chaining.Store(chaining)
}
