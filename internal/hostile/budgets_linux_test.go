//go:build !macrules

package hostile

import (
	"strings"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// manySurfaces registers surfaces beyond the budget, binds some and drops others.
func manySurfaces(a *attacker) {
	fd := memfd(1<<14, surface, nil)
	defer closeAll(fd)
	for _, r := range a.some(a.one(12)) {
		x, err := r.adds("surfaces")
		if err != nil {
			continue
		}
		for i := range uint32(1100) {
			token := 100 + i
			if !a.press(r, wire.KindSurface, &wire.Surface{Size: 1 << 14, Token: token}, fd) {
				break
			}
			port := []wire.Port{{Surface: token}}
			switch a.dice.IntN(4) {
			case 0:
				a.press(r, wire.KindDrop, &wire.Drop{Token: token})
			default:
				a.press(r, wire.KindBind, &wire.Bind{Program: x.Program, In: []wire.Port{port[0], {Surface: 1}},
					Out: port})
			}
		}
		r.drain()
	}
}

// manyCompiles has 255 compiles of 16 one-page files out on each of many connections.
func manyCompiles(a *attacker) {
	text := addition(a.dice.Uint64())
	program := memfd(int64(len(text)), frozen, text)
	page := memfd(1<<12, frozen, []byte("weights"))
	fds := []int{program}
	q := wire.Compile{File: "compiles", TextSize: uint64(len(text))}
	for i := range uint32(15) {
		fds = append(fds, page)
		q.Weights = append(q.Weights, wire.Weight{Name: itoa(int(i)), Descriptor: i + 1, Size: 1 << 12})
	}
	all := a.some(a.one(16))
	for range 255 {
		for _, r := range all {
			if !a.press(r, wire.KindCompile, &q, fds...) {
				return
			}
		}
	}
}

// intermediates compiles and loads small programs that ask for gigabytes.
func intermediates(a *attacker) {
	for _, r := range a.some(a.one(4)) {
		for range a.one(40) {
			text := outer(1<<uint(10+a.dice.IntN(6)), a.dice.IntN(20))
			c, err := r.compile(text)
			if err != nil || a.over() {
				continue
			}
			var loaded wire.Loaded
			_ = r.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &loaded)
		}
	}
}

// sparse registers and uploads files of 4 GiB that are holes.
func sparse(a *attacker) {
	big := memfd(4<<30, surface, nil)
	program := memfd(4<<30, frozen, addition("sparse"))
	a.keep = append(a.keep, big, program)
	for _, r := range a.some(a.one(6)) {
		x, err := r.adds("sparse")
		if err != nil {
			continue
		}
		for i := range uint32(6) {
			a.press(r, wire.KindSurface, &wire.Surface{Size: 4 << 30, Token: 10 + i}, big)
			port := []wire.Port{{Surface: 10 + i}}
			a.press(r, wire.KindBind, &wire.Bind{Program: x.Program, In: []wire.Port{port[0], port[0]}, Out: port})
			q := wire.Compile{TextSize: uint64(len(addition("sparse"))),
				Weights: []wire.Weight{{Name: "w", Size: 4<<30 - 1}}}
			a.press(r, wire.KindCompile, &q, program)
		}
		r.drain()
	}
}

// uploads sends programs with much text and many weights.
func uploads(a *attacker) {
	text := append(addition("uploads"), []byte("//"+strings.Repeat(" ", 1<<20))...)
	program := memfd(int64(len(text)), frozen, text)
	a.keep = append(a.keep, program)
	for _, r := range a.some(a.one(6)) {
		for range a.one(12) {
			q := wire.Compile{TextSize: uint64(len(text))}
			for i := range a.one(400) {
				q.Weights = append(q.Weights, wire.Weight{Name: itoa(i), Offset: uint64(i),
					Size: uint64(a.one(1 << 19))})
			}
			a.press(r, wire.KindCompile, &q, program)
		}
	}
}
