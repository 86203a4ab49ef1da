package wire

import (
	"cmp"
	"fmt"
	"sync/atomic"
)

// Conn is one end of a connection. Send may be called from several goroutines, frames are
// never mixed; Receive from several too, one at a time gets a frame. Close may be called at
// any time and ends both.
type Conn struct {
	in, out counter
	longest int // of LimitLong
	socket
}

// Descriptors came with a frame; the caller of Receive closes them.
type Descriptors []int

// Send sends a frame with descriptors, which stay the caller's. It waits while the peer does
// not read. A payload above MaxPayload travels in a memfd, which counts as a descriptor.
//
// Errors: ErrClosed, ErrTimeout (after SetPatience), ErrLong, ErrDescriptors, ErrKind,
// ErrValue, ErrSocket. Nothing was sent then.
func (c *Conn) Send(f Frame, fds ...int) error {
	switch {
	case c == nil:
		return absent("send")
	case !f.Kind.known():
		return &Error{Op: "send", Kind: f.Kind, Err: ErrKind, Detail: f.Kind.String()}
	case f.Flags != 0:
		return &Error{Op: "send", Kind: f.Kind, Err: ErrValue, Detail: fmt.Sprintf("flags %#x", f.Flags),
			Hint: "leave the flags to Send"}
	case len(f.Payload) > MaxPayload:
		return c.sendLong(f, fds)
	}
	return c.sendFrame(&f, fds)
}

// sendLong puts the payload into a memfd.
func (c *Conn) sendLong(f Frame, fds []int) error {
	if len(f.Payload) > MaxLong {
		return &Error{Op: "send", Kind: f.Kind, Err: ErrLong,
			Detail: fmt.Sprintf("%d bytes, at most %d", len(f.Payload), MaxLong)}
	}
	file, err := Seal("payload", f.Payload)
	if err != nil {
		return err
	}
	defer file.Close()
	all := append(append(make([]int, 0, len(fds)+1), fds...), int(file.Fd()))
	return c.sendFrame(&Frame{Kind: f.Kind, Flags: FlagLong, ID: f.ID}, all)
}

func (c *Conn) sendFrame(f *Frame, fds []int) error {
	if len(fds) > MaxDescriptors {
		return &Error{Op: "send", Kind: f.Kind, Err: ErrDescriptors,
			Detail: fmt.Sprintf("%d, at most %d", len(fds), MaxDescriptors)}
	}
	if err := c.send(f, fds); err != nil {
		return err
	}
	c.out.add(HeaderSize+len(f.Payload), len(fds))
	return nil
}

// Receive waits for a frame. buf is where it is put, MaxFrame bytes take every frame; the
// Payload is part of buf, or memory of its own when it came in a memfd. The descriptors are
// the caller's.
//
// Errors: ErrClosed when the peer has gone or the Conn was closed: no other call will
// succeed. ErrTimeout after SetPatience. All others (ErrMagic, ErrVersion, ErrKind, ErrShort, ErrLong, ErrTrailing,
// ErrValue, ErrDescriptors, ErrSeal, ErrSocket) are about one packet, which is gone with all
// its descriptors; if its header was readable, Kind and ID are set.
func (c *Conn) Receive(buf []byte) (Frame, Descriptors, error) {
	if c == nil {
		return Frame{}, nil, absent("receive")
	}
	n, fds, err := c.receive(buf)
	if err != nil {
		return Frame{}, nil, err
	}
	c.in.add(n, len(fds))
	f, err := ParseFrame(buf[:n])
	if err == nil && f.Flags&FlagLong != 0 {
		f, fds, err = long(f, fds, c.longest)
	}
	if err != nil {
		fds.Close()
		return f, nil, err
	}
	return f, fds, nil
}

// LimitLong has Receive refuse payloads in memfds of more than limit bytes, with ErrLong; 0 is MaxLong. It comes before
// the first Receive.
func (c *Conn) LimitLong(limit int) { c.longest = limit }

// long reads the payload from the last descriptor. On an error all descriptors are still
// open and those of the caller.
func long(f Frame, fds Descriptors, limit int) (Frame, Descriptors, error) {
	last := len(fds) - 1
	if last < 0 {
		return f, fds, f.fault("flags", 12, ErrDescriptors, "a long frame without the memfd of its payload")
	}
	payload, err := ReadSealed(fds[last], min(cmp.Or(limit, MaxLong), MaxLong))
	if err != nil {
		return f, fds, err
	}
	fds[last:].Close()
	f.Flags, f.Payload = 0, payload
	return f, fds[:last], nil
}

// Control lends the socket's descriptor to f, which does not keep it, for what a Conn has
// no call for. ErrClosed after Close, otherwise what f returns.
func (c *Conn) Control(f func(fd int) error) error {
	if c == nil {
		return absent("control")
	}
	return c.control(f)
}

// Traffic is what went through a Conn. Bytes are those of frames with their headers; what
// travels in memfds is not among them.
type Traffic struct {
	FramesIn, BytesIn, DescriptorsIn    uint64
	FramesOut, BytesOut, DescriptorsOut uint64
}

// Plus is the sum of both.
func (t Traffic) Plus(u Traffic) Traffic {
	return Traffic{
		FramesIn: t.FramesIn + u.FramesIn, BytesIn: t.BytesIn + u.BytesIn,
		DescriptorsIn: t.DescriptorsIn + u.DescriptorsIn,
		FramesOut:     t.FramesOut + u.FramesOut, BytesOut: t.BytesOut + u.BytesOut,
		DescriptorsOut: t.DescriptorsOut + u.DescriptorsOut,
	}
}

// counter counts one direction.
type counter struct{ frames, bytes, descriptors atomic.Uint64 }

func (c *counter) add(bytes, descriptors int) {
	c.frames.Add(1)
	c.bytes.Add(uint64(bytes))
	if descriptors != 0 {
		c.descriptors.Add(uint64(descriptors))
	}
}

// Traffic reads the counters.
func (c *Conn) Traffic() Traffic {
	if c == nil {
		return Traffic{}
	}
	return Traffic{
		FramesIn: c.in.frames.Load(), BytesIn: c.in.bytes.Load(), DescriptorsIn: c.in.descriptors.Load(),
		FramesOut: c.out.frames.Load(), BytesOut: c.out.bytes.Load(), DescriptorsOut: c.out.descriptors.Load(),
	}
}
