// Package resources is what the clients of a broker hold. They hold programs in memory and in the cache on disk, and
// uploads that become programs. They hold registered memory, and requests that tie a program to memory. Budgets limit
// all of it. Only compiles and loads wait for the engine here; package calls has the other waits.
//
// Everything of one client is guarded by its connection's turn, unless a comment says otherwise.
package resources

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
)

// Name is what errors of the broker give as the engine.
const Name = "broker"

// Exhausted is the answer to one more than a client may have.
func Exhausted(op, name, what string, limit int, hint string) error {
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrExhausted,
		Detail: fmt.Sprintf("limit of %d %s", limit, what), Hint: hint}
}

// Unknown is the answer to a handle that the connection does not have.
func Unknown(op, what string, handle uint32) error {
	return &ane.Error{Op: op, Engine: Name, Name: fmt.Sprintf("%s %d", what, handle), Err: ane.ErrForeign,
		Detail: "this connection has none of this number", Hint: "use the numbers that the broker answered with"}
}

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
