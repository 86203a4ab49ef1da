//go:build !macrules

package hostile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// packet is a frame. The sender chooses each field of its header, right or wrong.
type packet struct {
	magic         uint32
	version, kind uint16
	length, flags uint32
	id            uint64
	body          []byte
}

// framed is a correct packet.
func framed(kind wire.Kind, id uint64, body []byte) packet {
	return packet{magic: 'a' | 'n'<<8 | 'e'<<16 | 'b'<<24, version: wire.Version, kind: uint16(kind), length: uint32(len(body)),
		id: id, body: body}
}

func (p packet) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, p.magic)
	b = binary.LittleEndian.AppendUint16(b, p.version)
	b = binary.LittleEndian.AppendUint16(b, p.kind)
	b = binary.LittleEndian.AppendUint32(b, p.length)
	b = binary.LittleEndian.AppendUint32(b, p.flags)
	b = binary.LittleEndian.AppendUint64(b, p.id)
	return append(b, p.body...)
}

// fields is a payload. Unlike those of package wire it may break the order, the limits and the lengths.
type fields struct {
	b []byte
	n byte
}

func (f *fields) tag(kind byte) *fields {
	f.b = append(f.b, f.n<<3|kind)
	f.n++
	return f
}

func (f *fields) u32(v uint32) *fields {
	f.tag(2).b = binary.LittleEndian.AppendUint32(f.b, v)
	return f
}

func (f *fields) u64(v uint64) *fields {
	f.tag(3).b = binary.LittleEndian.AppendUint64(f.b, v)
	return f
}

// text claims a length that s may not have.
func (f *fields) text(s string, length uint32) *fields {
	f.tag(5).b = append(binary.LittleEndian.AppendUint32(f.b, length), s...)
	return f
}

func (f *fields) list(count uint32) *fields {
	f.tag(6).b = binary.LittleEndian.AppendUint32(f.b, count)
	return f
}

// raw is a connection below package wire. No call blocks for longer than its patience.
type raw struct {
	fd      int
	id      uint64
	buf     []byte
	faults  int // answers that refuse
	answers int // all answers that were read
}

// patience is what an attacker waits for the broker, in one call.
const patience = 10 * time.Second

var errNoAnswer = errors.New("no answer")

func dial(path string) (*raw, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	// a full backlog blocks connect for this long
	t := unix.NsecToTimeval(time.Second.Nanoseconds())
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &t)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &raw{fd: fd, buf: make([]byte, 256<<10)}, nil
}

func (r *raw) close() { _ = unix.Close(r.fd) }

// push sends bytes without waiting.
func (r *raw) push(b []byte, fds ...int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	return unix.Sendmsg(r.fd, b, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// send waits for room.
func (r *raw) send(b []byte, fds ...int) error {
	for end := time.Now().Add(patience); ; {
		err := r.push(b, fds...)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ETOOMANYREFS):
			if time.Now().After(end) {
				return err
			}
			r.drain()
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLOUT | unix.POLLIN}}, 10)
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}

// receive waits for the next packet.
func (r *raw) receive(wait time.Duration) ([]byte, error) {
	for end := time.Now().Add(wait); ; {
		n, _, err := unix.Recvfrom(r.fd, r.buf, unix.MSG_DONTWAIT)
		switch {
		case err == nil && n == 0:
			return nil, unix.EPIPE
		case err == nil:
			r.answers++
			if n >= wire.HeaderSize && wire.Kind(binary.LittleEndian.Uint16(r.buf[6:])) == wire.KindFault {
				r.faults++
			}
			return r.buf[:n], nil
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR):
			return nil, err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, errNoAnswer
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
	}
}

// drain reads what is there.
func (r *raw) drain() {
	for {
		if _, err := r.receive(0); err != nil {
			return
		}
	}
}

// post sends a correct frame.
func (r *raw) post(k wire.Kind, q wire.Payload, fds ...int) error {
	r.id++
	return r.send(framed(k, r.id, wire.Append(nil, q)).bytes(), fds...)
}

// ask sends a correct frame and reads up to its answer.
func (r *raw) ask(k wire.Kind, q, reply wire.Payload, fds ...int) error {
	if err := r.post(k, q, fds...); err != nil {
		return err
	}
	for {
		b, err := r.receive(patience)
		if err != nil {
			return err
		}
		f, err := wire.ParseFrame(b)
		switch {
		case err != nil:
			return err
		case f.ID != r.id:
			continue
		case f.Kind == wire.KindFault:
			var fault wire.Fault
			if err := wire.Parse(f.Payload, &fault); err != nil {
				return err
			}
			return fault.Err()
		case f.Kind != k|wire.Reply:
			return fmt.Errorf("%v answers %v", f.Kind, k)
		}
		return wire.Parse(f.Payload, reply)
	}
}
