package driver

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/unimem"
)

const (
	ok  = driverabi.Success
	bad = driverabi.BadArgument
)

// rig is a driver over a fake engine, closed and checked at the end of the test.
type rig struct {
	t      testing.TB
	engine *engine
	driver *Driver
}

// bounded sets the depths of the queue: for a client, and for all.
func (r *rig) bounded(depth, total int) *rig {
	r.driver.depth, r.driver.total = depth, total
	return r
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, engine: &engine{in: 1, out: 1}, driver: New(0)}
	whole := r.driver.iommu.Free()
	t.Cleanup(func() {
		r.close()
		s := r.driver.Stats()
		require.Zero(t, r.driver.busy)
		require.Zero(t, r.driver.flying)
		require.Equal(t, Stats{Resources: s.Resources, Created: s.Created, Completed: s.Completed,
			Yields: s.Yields,
			Levels: s.Levels}, s, "everything undone")
		ends := uint64(0)
		for i, l := range s.Levels {
			require.Zero(t, l.Waiting)
			require.Equal(t, l.Sent, l.Completed+l.Failed+l.Cancelled+l.TimedOut, "level %d", i)
			ends += l.Sent
		}
		require.Equal(t, s.Completed, ends)
		require.Equal(t, whole, r.driver.iommu.Free())
		require.Zero(t, r.driver.iommu.Faults())
		for _, one := range r.driver.resources {
			require.Zero(t, one.users)
		}
		r.engine.check(t)
	})
	return r
}

// close closes the driver. Requests that a failed test has left in the engine are
// cancelled after a while.
func (r *rig) close() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	require.NoError(r.t, r.driver.Close(ctx))
}

// everything a client may have.
var privileged = ClientInfo{Privileged: true, AllowDataChaining: true, RealTime: true, ClientHints: true,
	Restricted: true, Identity: "one"}

func (r *rig) attach(info ClientInfo) *Client {
	r.t.Helper()
	c, err := r.driver.Attach(info)
	require.NoError(r.t, err)
	return c
}

// opened attaches and shakes hands on both connections.
func (r *rig) opened(info ClientInfo) *Client {
	r.t.Helper()
	c := r.attach(info)
	for _, call := range []func(int, *driverabi.Args) error{c.Control, c.Direct} {
		_, ret := handshake(call, driverabi.UsageStandard)
		require.NoError(r.t, ret)
	}
	return c
}

// handshake opens a connection with bytes all set, and answers the bytes that come back.
func handshake(call func(int, *driverabi.Args) error, usage driverabi.UsageType) ([]byte,
	error) {
	a := driverabi.Args{StructIn: bytes.Repeat([]byte{99}, 104), StructOut: make([]byte, 104)}
	a.StructIn[driverabi.DeviceUsage] = byte(usage)
	ret := call(0, &a)
	return a.StructOut, ret
}

func (r *rig) program() uint64 {
	r.t.Helper()
	id, err := r.driver.AddProgram(r.engine.compile())
	require.NoError(r.t, err)
	return id
}

// surface adds a Block that is closed when the driver is.
func (r *rig) surface(size int) uint32 {
	r.t.Helper()
	b, err := unimem.Open(size)
	require.NoError(r.t, err)
	id, err := r.driver.AddSurface(b)
	require.NoError(r.t, err)
	b2 := b
	r.t.Cleanup(func() { // runs before the driver's cleanup, so the driver releases them first
		r.close()
		require.NoError(r.t, b2.Close())
	})
	return id
}

func create1(c *Client, resource uint64) error {
	return c.Control(3, &driverabi.Args{StructIn: Bytes(Create{Resource: resource})})
}

func prepare1(c *Client, resource uint64) (Prepare, error) {
	a := driverabi.Args{StructIn: Bytes(Prepare{Resource: resource}), StructOut: make([]byte, 56)}
	ret := c.Control(4, &a)
	return Parse[Prepare](a.StructOut), ret
}

func unprepare1(c *Client, token uint64) error {
	return c.Control(5, &driverabi.Args{StructIn: Bytes(Unprepare{Token: token})})
}

func destroy1(c *Client, x Destroy) error {
	return c.Control(6, &driverabi.Args{StructIn: Bytes(x)})
}

func instance1(c *Client, x Instance) error {
	return c.Control(8, &driverabi.Args{StructIn: Bytes(x)})
}

// prepared gives the token of a program that c has now.
func (r *rig) prepared(c *Client, resource uint64) uint64 {
	r.t.Helper()
	require.NoError(r.t, create1(c, resource))
	x, ret := prepare1(c, resource)
	require.NoError(r.t, ret)
	require.NotZero(r.t, x.Token)
	return x.Token
}

func map1(c *Client, surface uint32) (uint64, error) {
	a := driverabi.Args{ScalarIn: []uint64{0}, StructIn: Bytes(Memory{Surface: surface}), ScalarOut: []uint64{0}}
	err := c.Direct(5, &a)
	return a.ScalarOut[0], err
}

// mapped maps surfaces for c.
func (r *rig) mapped(c *Client, surfaces ...uint32) {
	r.t.Helper()
	for _, id := range surfaces {
		_, err := map1(c, id)
		require.NoError(r.t, err)
	}
}

func unmap1(c *Client, surface uint32) error {
	return c.Direct(6, &driverabi.Args{StructIn: Bytes(Memory{Surface: surface})})
}

// pair maps an input and an output for c.
func (r *rig) pair(c *Client) []uint32 {
	r.t.Helper()
	list := []uint32{r.surface(1), r.surface(1)}
	r.mapped(c, list...)
	return list
}

// Submit is what a request has beside its documented fields.
type Submit struct {
	Flags   uint32
	Timeout uint64
}

// sendReply is the answer to a request.
type sendReply struct {
	Sequence, Result uint32
	Token            uint64
	Status           uint32
}

// ask is a request in the making.
type ask struct {
	token    uint64
	sequence uint32
	qos      uint32
	port     uint64
	doorbell uint64
	submit   Submit
	surfaces []uint32
	edit     func(request []byte)
}

func (x ask) args() *driverabi.Args {
	if x.qos == 0 {
		x.qos = driverabi.QoSDefault
	}
	s := make([]byte, driverabi.SendRequestSize)
	driverabi.RequestToken.Put(s, x.token)
	driverabi.RequestSequence.Put(s, x.sequence)
	class(s, x.qos, driverabi.Priority(x.qos))
	driverabi.RequestCategory.Put(s, driverabi.IOCategory)
	driverabi.PutSurfaces(s, x.surfaces)
	RequestFlags.Put(s, x.submit.Flags)
	RequestTimeout.Put(s, x.submit.Timeout)
	if x.edit != nil {
		x.edit(s)
	}
	return &driverabi.Args{AsyncPort: x.port, ScalarIn: []uint64{x.doorbell}, StructIn: s,
		StructOut: make([]byte, driverabi.SendReplySize)}
}

// class writes the pair of quality of service and priority.
func class(request []byte, qos, priority uint32) {
	driverabi.RequestQoS.Put(request, qos)
	driverabi.RequestPriority.Put(request, priority)
}

func (x ask) send(c *Client) (sendReply, error) {
	a := x.args()
	ret := c.Control(2, a)
	return replyOf(a.StructOut), ret
}

func replyOf(b []byte) sendReply {
	return sendReply{driverabi.ReplySequence.Get(b), driverabi.ReplyResult.Get(b), driverabi.ReplyToken.Get(b),
		driverabi.ReplyStatus.Get(b)}
}

// soon fails the test when what does not happen.
func soon(t testing.TB, what func() bool, text string) {
	t.Helper()
	await.Until(t, text, what)
}

// within waits for one value.
func within[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	return await.Value(t, from)
}

// hold has every run wait until let is called or its context ends.
func (r *rig) hold() (started <-chan struct{}, let func()) {
	begun, gate := make(chan struct{}, 1024), make(chan struct{})
	r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		begun <- struct{}{}
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ane.Deadline("evaluate", "fake", ctx.Err())
		}
	}
	return begun, func() { close(gate) }
}

// fill has c send n requests to a program, after which the queue is full for it, for a reason. It
// returns the next request.
func (r *rig) fill(c *Client, resource uint64, n int, reason string) ask {
	r.t.Helper()
	x := ask{token: r.prepared(c, resource), port: 1, surfaces: r.pair(c)}
	for range n {
		_, ret := x.send(c)
		require.NoError(r.t, ret)
		x.sequence++
	}
	_, ret := x.send(c)
	require.ErrorIs(r.t, ret, Full)
	require.ErrorContains(r.t, ret, reason)
	return x
}
