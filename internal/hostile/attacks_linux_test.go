//go:build !macrules

package hostile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// attacks are what attackers do.
var attacks = []struct {
	name string
	run  func(*attacker)
}{
	{name: "frames", run: frames},
	{name: "headers", run: headers},
	{name: "descriptors", run: descriptors},
	{name: "unread", run: unread},
	{name: "slow reader", run: slowReader},
	{name: "silent", run: silent},
	{name: "crowd", run: crowd},
	{name: "surfaces", run: manySurfaces},
	{name: "compiles", run: manyCompiles},
	{name: "intermediates", run: intermediates},
	{name: "constants", run: constants},
	{name: "long texts", run: longTexts},
	{name: "sparse", run: sparse},
	{name: "uploads", run: uploads},
	{name: "bell", run: scribble},
	{name: "refusals", run: refusals},
	{name: "panics", run: panics},
	{name: "queue", run: queue},
}

// frames sends requests of every kind, whole and mutated, some with descriptors.
func frames(a *attacker) {
	for _, r := range a.some(a.one(6)) {
		var x ready
		if got, err := r.adds(a.dice.Uint64()); err == nil {
			x = *got
		}
		for range 200 + a.dice.IntN(600) {
			if !a.insist(r, a.mutate(a.request(&x)).bytes(), a.oddFiles(a.dice.IntN(3))...) {
				break
			}
		}
		closeAll(x.surfaces...)
	}
}

// request is a plausible request.
func (a *attacker) request(x *ready) packet {
	small := func() uint32 { return a.dice.Uint32N(6) }
	sequence := uint64(small())
	var q wire.Payload
	kind := wire.KindHello + wire.Kind(a.dice.IntN(20))
	switch kind {
	case wire.KindHello:
		q = &wire.Hello{Version: wire.Version}
	case wire.KindSurface:
		q = &wire.Surface{ID: small(), Size: uint64(small()) << 14, Token: small()}
	case wire.KindDrop:
		q = &wire.Drop{Token: small()}
	case wire.KindCompile:
		q = &wire.Compile{File: "x", TextSize: uint64(a.dice.IntN(400)),
			Weights: []wire.Weight{{Name: "w", Descriptor: small(), Size: uint64(small())}}, Key: strings.Repeat("a",
				a.dice.IntN(2)*64)}
	case wire.KindInstance:
		q = &wire.Instance{Program: x.Program + small(), Weights: []wire.Weight{{Name: "w", Size: uint64(small())}}}
	case wire.KindLoad:
		q = &wire.Load{Program: x.Program + small(), QoS: 21, Args: wire.Arguments{QueueDepth: small(),
			KeepWired: true}}
	case wire.KindUnload:
		q = &wire.Unload{Program: small()}
	case wire.KindRelease:
		q = &wire.Release{Program: small()}
	case wire.KindBind:
		q = &wire.Bind{Program: x.Program + small()/5, In: []wire.Port{{Surface: small()}, {Surface: small()}},
			Out: []wire.Port{{Surface: small(), Offset: uint64(small()) << 12}}}
	case wire.KindUnbind:
		q = &wire.Unbind{Request: small()}
	case wire.KindEvaluate:
		q = &wire.Evaluate{Request: x.request + small()/5, QoS: 21, Sequence: sequence, Deadline: a.dice.Uint64N(1e6)}
	case wire.KindChain:
		steps := make([]wire.Step, a.dice.IntN(40))
		for i := range steps {
			steps[i] = wire.Step{Request: x.request, QoS: 21}
		}
		q = &wire.Chain{Sequence: sequence, Deadline: a.dice.Uint64N(1e6), Steps: steps}
	case wire.KindCancel:
		q = &wire.Cancel{Sequence: sequence}
	case wire.KindPurge:
		q = &wire.Purge{}
	default:
		q = &wire.Empty{}
	}
	return framed(kind, a.dice.Uint64(), wire.Append(nil, q))
}

// mutate changes some bytes of a packet's body, or its length, or replaces it.
func (a *attacker) mutate(p packet) packet {
	switch a.dice.IntN(6) {
	case 0, 1: // whole
	case 2:
		for range a.one(4) {
			if len(p.body) > 0 {
				p.body[a.dice.IntN(len(p.body))] ^= byte(a.one(255))
			}
		}
	case 3:
		p.body = p.body[:a.dice.IntN(len(p.body)+1)]
	case 4:
		p.body = a.noise(a.dice.IntN(300))
	case 5:
		p.body = a.nonsense()
	}
	p.length = uint32(len(p.body))
	return p
}

// nonsense is fields in an order, of counts and of lengths that no payload has.
func (a *attacker) nonsense() []byte {
	f := &fields{n: byte(a.dice.IntN(3))}
	for range a.one(8) {
		switch a.dice.IntN(4) {
		case 0:
			f.u32(a.dice.Uint32())
		case 1:
			f.u64(math.MaxUint64 >> a.dice.IntN(64))
		case 2:
			f.text("hostile", a.dice.Uint32()>>a.dice.IntN(32))
		case 3:
			f.list(a.dice.Uint32() >> a.dice.IntN(32))
		}
	}
	return f.b
}

func (a *attacker) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(a.dice.Uint32())
	}
	return b
}

// oddFiles opens n descriptors of wrong kinds. They stay open until the attacker ends, as there are few.
func (a *attacker) oddFiles(n int) (fds []int) {
	for range n {
		if fd := a.oddFile(); fd >= 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// opened has the descriptors of each kind, which are the same for all frames.
func (a *attacker) oddFile() int {
	if len(a.keep) == 0 {
		for _, o := range odd {
			if fd := o.open(); fd >= 0 {
				a.keep = append(a.keep, fd)
			}
		}
	}
	return a.keep[a.dice.IntN(len(a.keep))].(int)
}

// headers sends truncated, oversized and false headers. Many end the connection.
func headers(a *attacker) {
	for range 40 {
		r := a.connect()
		if a.dice.IntN(2) == 0 {
			r = a.greet()
		}
		if r == nil || a.over() {
			return
		}
		for range a.one(20) {
			p := framed(wire.KindPing, a.dice.Uint64(), nil)
			switch a.dice.IntN(8) {
			case 0:
				p.magic = a.dice.Uint32()
			case 1:
				p.version = uint16(a.dice.Uint32())
			case 2:
				p.kind = uint16(a.dice.Uint32())
			case 3:
				p.length = a.dice.Uint32()
			case 4:
				p.flags = a.dice.Uint32()
			case 5:
				p.flags = wire.FlagLong
			case 6:
				p.body = make([]byte, a.one(190<<10))
				p.length = uint32(len(p.body))
			}
			b := p.bytes()
			if a.dice.IntN(4) == 0 {
				b = b[:a.dice.IntN(len(b)+1)]
			}
			if !a.throw(r, b, a.oddFiles(a.dice.IntN(2))...) {
				break
			}
		}
		r.drain()
		if a.dice.IntN(2) == 0 {
			r.close()
			a.conns = a.conns[:len(a.conns)-1]
		}
	}
}

// descriptors sends wrong kinds and numbers of descriptors beside the frames that take some, and a shrunken surface.
func descriptors(a *attacker) {
	counts := []int{0, 1, 2, 15, 16, 17, 64, 253}
	for _, r := range a.some(a.one(8)) {
		for range 100 {
			q, k := wire.Payload(&wire.Surface{Size: 1 << uint(a.one(40)), Token: a.dice.Uint32()}), wire.KindSurface
			switch a.dice.IntN(4) {
			case 0:
				q, k = &wire.Compile{TextSize: uint64(a.one(1 << 20))}, wire.KindCompile
			case 1:
				q, k = &wire.Instance{Program: 1}, wire.KindInstance
			}
			r.id++
			p := framed(k, r.id, wire.Append(nil, q))
			if a.dice.IntN(8) == 0 { // the payload is in the last descriptor
				p.flags, p.length, p.body = wire.FlagLong, 0, nil
			}
			if !a.insist(r, p.bytes(), a.oddFiles(counts[a.dice.IntN(len(counts))])...) {
				break
			}
		}
	}
	for range 4 { // before hello, and beside it
		if r := a.connect(); r != nil {
			a.throw(r, framed(wire.KindHello, 1, wire.Append(nil, &wire.Hello{Version: wire.Version})).bytes(),
				a.oddFiles(a.one(3))...)
		}
	}
}

// unread asks for much and reads nothing.
func unread(a *attacker) {
	for _, r := range a.some(a.one(8)) {
		for i := 0; i < 5000 && a.throw(r, framed(wire.KindStats, uint64(i), nil).bytes()); i++ {
		}
	}
}

// slowReader asks for much and reads an answer in a while.
func slowReader(a *attacker) {
	all := a.some(a.one(4))
	for i := 0; !a.over() && i < 2000; i++ {
		for _, r := range all {
			a.throw(r, framed(wire.KindStats, uint64(i), nil).bytes())
		}
		if len(all) > 0 && i%10 == 0 {
			_, _ = all[a.dice.IntN(len(all))].receive(time.Millisecond)
		}
	}
}

// silent connects and says nothing. With three of them the broker has more connections than it lets in at a time.
func silent(a *attacker) {
	for range 40 {
		a.connect()
	}
}

// crowd takes a quarter of the places, each with a bell, and stays. The broker has a thread for each place and bell.
func crowd(a *attacker) {
	for range 16 {
		bell, file, err := wire.NewBell()
		if err != nil {
			return
		}
		a.keep = append(a.keep, bell, file)
		a.greet(int(file.Fd()))
	}
}

// constants has the broker compute constants while it compiles, longer than the attack lasts.
func constants(a *attacker) { a.compiles(folded(4096, a.one(8))) }

// longTexts has the broker read texts of megabytes.
func longTexts(a *attacker) { a.compiles(statements(20_000 * a.one(5))) }

// compiles sends one text with different comments over some connections, without waiting for the answers.
func (a *attacker) compiles(text []byte) {
	for _, r := range a.some(a.one(4)) {
		for range a.one(4) {
			own := fmt.Appendf(slices.Clone(text), "// %d\n", a.dice.Uint64())
			fd := memfd(int64(len(own)), frozen, own)
			a.press(r, wire.KindCompile, &wire.Compile{File: "long", TextSize: uint64(len(own))}, fd)
			closeAll(fd)
		}
	}
}

// scribble writes what it likes into the memory of its bell while the broker reads it.
func scribble(a *attacker) {
	bell, file, err := wire.NewBell()
	if err != nil {
		return
	}
	a.keep = append(a.keep, bell, file)
	r := a.greet(int(file.Fd()))
	if r == nil {
		return
	}
	x, err := r.adds("bell")
	if err != nil {
		return
	}
	info, err := file.Stat()
	if err != nil {
		return
	}
	mem, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return
	}
	box := mem[len(mem)/2:]
	noise := a.noise(4096)
	for i := 0; i < 3000 && !a.over(); i++ {
		p := a.request(x)
		f := wire.Frame{Kind: wire.Kind(p.kind), ID: wire.BellID | p.id, Payload: p.body}
		_ = bell.Send(f)
		a.sent++
		switch a.dice.IntN(7) {
		case 0, 1, 2: // count, length, taken
			binary.LittleEndian.PutUint32(box[4*a.dice.IntN(3):], a.dice.Uint32()>>a.dice.IntN(32))
		case 3:
			box[64+a.dice.IntN(120)] ^= byte(a.one(255))
		case 4:
			copy(mem[a.dice.IntN(len(mem)-len(noise)):], noise)
		}
		if i%16 == 0 {
			r.drain()
		}
	}
}

// refusals sends nothing but frames that are refused, up to being cut off.
func refusals(a *attacker) {
	for range 8 {
		r := a.greet()
		if r == nil {
			return
		}
		for i := range uint32(1100) {
			if !a.press(r, wire.KindLoad, &wire.Load{Program: i}) {
				break
			}
		}
	}
}

// panics compiles and evaluates programs that make the engine of the campaign's broker panic.
func panics(a *attacker) {
	for _, r := range a.some(a.one(3)) {
		_, _ = r.compile(addition(panicCompile))
		x, err := r.adds(panicEvaluate)
		for range a.one(5) {
			if err == nil {
				_ = r.ask(wire.KindEvaluate, &wire.Evaluate{Request: x.request}, &wire.Done{})
			}
		}
		if err == nil {
			closeAll(x.surfaces...)
		}
	}
}

// queue fills the queue with runs and goes.
func queue(a *attacker) {
	for _, r := range a.some(a.one(6)) {
		c, err := r.compile(outer(1024, 4))
		if err != nil {
			continue
		}
		x, err := r.ready(c)
		for i := range uint64(200) {
			if err != nil || !a.press(r, wire.KindEvaluate, &wire.Evaluate{Request: x.request, QoS: 33, Sequence: i}) {
				break
			}
			if a.dice.IntN(8) == 0 {
				a.press(r, wire.KindCancel, &wire.Cancel{Sequence: a.dice.Uint64N(i + 1)})
			}
		}
		if a.dice.IntN(2) == 0 {
			r.close()
		}
	}
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
