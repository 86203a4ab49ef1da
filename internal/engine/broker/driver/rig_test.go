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

func newRig(t testing.TB, o Options) *rig {
	r := &rig{t: t, engine: &engine{in: 1, out: 1}}
	if o.Engine == nil {
		o.Engine = r.engine
	}
	var err error
	r.driver, err = New(o)
	require.NoError(t, err)
	whole := r.driver.iommu.Free()
	t.Cleanup(func() {
		r.close()
		s := r.driver.Stats()
		require.Zero(t, r.driver.busy)
		require.Zero(t, r.driver.flying)
		require.Equal(t, Stats{Programs: s.Programs, Weights: s.Weights, Created: s.Created, Completed: s.Completed,
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
		for _, p := range r.driver.programs {
			require.Zero(t, p.users)
			require.Zero(t, p.loaded)
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
	for _, call := range []func(int, *driverabi.Args) driverabi.Return{c.Control, c.Direct} {
		_, ret := handshake(call, driverabi.UsageStandard)
		require.Equal(r.t, ok, ret)
	}
	return c
}

// handshake opens a connection with bytes all set, and answers the bytes that come back.
func handshake(call func(int, *driverabi.Args) driverabi.Return, usage driverabi.UsageType) ([]byte,
	driverabi.Return) {
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

func create1(c *Client, resource uint64) driverabi.Return {
	return c.Control(3, &driverabi.Args{StructIn: Bytes(Create{Resource: resource})})
}

func prepare1(c *Client, resource uint64) (Prepare, driverabi.Return) {
	a := driverabi.Args{StructIn: Bytes(Prepare{Resource: resource}), StructOut: make([]byte, 56)}
	ret := c.Control(4, &a)
	return Parse[Prepare](a.StructOut), ret
}

func unprepare1(c *Client, token uint64) driverabi.Return {
	return c.Control(5, &driverabi.Args{StructIn: Bytes(Unprepare{Token: token})})
}

func destroy1(c *Client, x Destroy) driverabi.Return {
	return c.Control(6, &driverabi.Args{StructIn: Bytes(x)})
}

func instance1(c *Client, x Instance) driverabi.Return {
	return c.Control(8, &driverabi.Args{StructIn: Bytes(x)})
}

// prepared gives the token of a program that c has now.
func (r *rig) prepared(c *Client, resource uint64) uint64 {
	r.t.Helper()
	require.Equal(r.t, ok, create1(c, resource))
	x, ret := prepare1(c, resource)
	require.Equal(r.t, ok, ret)
	require.NotZero(r.t, x.Token)
	return x.Token
}

func map1(c *Client, which uint64, surfaces ...uint32) (uint64, driverabi.Return) {
	a := driverabi.Args{ScalarIn: []uint64{which}, StructIn: Memory(surfaces...), ScalarOut: []uint64{0}}
	ret := c.Direct(5, &a)
	return a.ScalarOut[0], ret
}

func unmap1(c *Client, surfaces ...uint32) driverabi.Return {
	return c.Direct(6, &driverabi.Args{StructIn: Memory(surfaces...)})
}

// pair maps an input and an output for c.
func (r *rig) pair(c *Client) []uint32 {
	r.t.Helper()
	list := []uint32{r.surface(1), r.surface(1)}
	_, ret := map1(c, 0, list...)
	require.Equal(r.t, ok, ret)
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

func (x ask) send(c *Client) (sendReply, driverabi.Return) {
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

// fill has c send n requests to a program, after which the queue is full for it. It
// returns the next request.
func (r *rig) fill(c *Client, resource uint64, n int) ask {
	r.t.Helper()
	x := ask{token: r.prepared(c, resource), port: 1, surfaces: r.pair(c)}
	for range n {
		_, ret := x.send(c)
		require.Equal(r.t, ok, ret)
		x.sequence++
	}
	_, ret := x.send(c)
	require.Equal(r.t, Full, ret)
	return x
}
