package resources

import (
	"errors"
	"sync/atomic"
)

// Client is what one client holds.
type Client struct {
	Owes     *Account
	Surfaces Registrations
	Programs Programs
	Requests Requests
}

// NewClient makes a client that holds nothing. Open follows when it is admitted, and Free.
func NewClient(b *Budgets, live *Residents) *Client {
	c := &Client{Owes: b.Open()}
	c.Surfaces = Registrations{driver: live.driver, owes: c.Owes, table: newTable[registration](nil)}
	handles := &atomic.Uint32{} // of programs and requests
	c.Programs = Programs{driver: live.driver, live: live, owes: c.Owes, loaded: map[*Resident]*attachment{},
		table: newTable[Program](handles)}
	c.Requests = Requests{programs: &c.Programs, surfaces: &c.Surfaces, table: newTable[Request](handles)}
	return c
}

// Open gives the client its connections to the driver.
func (c *Client) Open(dev *Device) { c.Surfaces.dev, c.Programs.dev = dev, dev }

// Free gives back everything. The driver has ended its client.
func (c *Client) Free() error {
	defer c.Owes.Close()
	return errors.Join(c.Surfaces.free(), c.Programs.free())
}
