package trial

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
)

// Names of checks of what one side wrote and the other reads, without a look at the engine's memory.
const (
	lateReadCheck = "sharing/late-read"
	turnsCheck    = "sharing/turns"
	chainCheck    = "sharing/chain"
)

// turns makes these checks.
func turns(ctx context.Context, d *ane.Device, all []models.Model) (checks []Check, err error) {
	one, two := all[:1], []models.Model{all[0]}
	for _, m := range all {
		if m.Name == "scale-bias" { // has the identity's shape
			two = append(two, m)
		}
	}
	for _, c := range []struct {
		name, about string
		programs    []models.Model
		play        func(*stage) error
		surfaces    []string
	}{
		{lateReadCheck, "the CPU has to read an output in memory that it overwrote after binding, also from equal inputs",
			one, lateRead, []string{"x", "y"}},
		{turnsCheck, "requests that read a surface, and one that writes it, have to see each other's order", one,
			takeTurns, []string{"x", "y", "z", "w"}},
		{chainCheck, "a program has to read what another wrote, with no access of the CPU between", two, chained,
			[]string{"x", "y", "z"}},
	} {
		check, err := played(ctx, d, c.name, c.programs, c.about, c.play, c.surfaces...)
		if err != nil {
			return checks, err
		}
		checks = append(checks, check)
	}
	return checks, nil
}

// lateRead overwrites an output after binding, evaluates, and reads it, twice for each input.
func lateRead(s *stage) error {
	r, err := s.bind(0, "x", "y")
	if err != nil {
		return err
	}
	for seed := range uint64(2) {
		in, err := s.write("x", seed)
		if err != nil {
			return err
		}
		for range 2 {
			s.poison("y")
			if err := s.evaluate(r); err != nil {
				return err
			}
			if err := s.read("y", 0, s.of(0, in)); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeTurns evaluates two requests that read x in both orders, then one that reads x and one that writes it.
func takeTurns(s *stage) error {
	read, err := s.bind(0, "x", "y")
	if err != nil {
		return err
	}
	also, err := s.bind(0, "x", "z")
	if err != nil {
		return err
	}
	written, err := s.bind(0, "w", "x")
	if err != nil {
		return err
	}
	for seed, order := range [][]*ane.Request{{read, also}, {also, read}} {
		in, err := s.write("x", uint64(seed))
		if err != nil {
			return err
		}
		s.poison("y")
		s.poison("z")
		if err := s.evaluate(order...); err != nil {
			return err
		}
		for _, name := range []string{"y", "z"} {
			if err := s.read(name, 0, s.of(0, in)); err != nil {
				return err
			}
		}
	}
	for seed, order := range [][]*ane.Request{{read, written}, {written, read}} {
		old, err := s.write("x", uint64(10+seed))
		if err != nil {
			return err
		}
		in, err := s.write("w", uint64(20+seed))
		if err != nil {
			return err
		}
		s.poison("y")
		if err := s.evaluate(order...); err != nil {
			return err
		}
		x := s.of(0, in)
		seen := old
		if order[0] == written {
			seen = x
		}
		if err := s.read("y", 0, s.of(0, seen)); err != nil {
			return err
		}
		if err := s.read("x", 0, x); err != nil {
			return err
		}
	}
	return nil
}

// chained evaluates two programs, each in turn as the first.
func chained(s *stage) error {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		first, err := s.bind(order[0], "x", "y")
		if err != nil {
			return err
		}
		second, err := s.bind(order[1], "y", "z")
		if err != nil {
			return err
		}
		for seed := range uint64(2) {
			in, err := s.write("x", seed)
			if err != nil {
				return err
			}
			s.poison("y")
			s.poison("z")
			if err := s.evaluate(first, second); err != nil {
				return err
			}
			if err := s.read("z", order[1], s.of(order[1], s.of(order[0], in))); err != nil {
				return err
			}
		}
	}
	return nil
}
