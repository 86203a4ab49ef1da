package guestcode

import "fmt"

// The most locals of a function, which is the limit of browsers, and of all functions together.
const (
	maxLocals    = 50_000
	maxAllLocals = 4 << 20
)

// Check refuses a small binary that states a large number of list items, text bytes or locals. wazero allocates for
// that number before it reads the items. Check leaves all other faults to wazero.
func Check(all []Section) error {
	for _, s := range all {
		r := &Reader{Rest: s.Body}
		switch s.ID {
		case Custom:
			custom(r)
		case Types:
			r.List(r.rec)
		case Imports:
			onlyFunctions(r)
		case Funcs:
			r.List(r.number)
		case Globals:
			r.List(func() { r.Type(); r.Byte(); r.Constant() })
		case Exports:
			r.List(func() { r.Text(); r.Byte(); r.Number() })
		case Elements:
			r.List(r.element)
		case Code:
			locals(r)
		case Data:
			r.List(r.segment)
		}
		if r.Err != nil {
			return fmt.Errorf("section %d: %w", s.ID, r.Err)
		}
	}
	return nil
}

func (r *Reader) number() { r.Number() }

// rec reads a type of functions, or a group of them.
func (r *Reader) rec() {
	if r.Peek() == 0x4e {
		r.Byte()
		r.List(r.function)
		return
	}
	r.function()
}

// function reads a type of functions.
func (r *Reader) function() {
	if r.Byte() != 0x60 {
		r.Fail()
	}
	r.List(r.Type)
	r.List(r.Type)
}

// onlyFunctions reads imports, all of functions: hosts have nothing else.
func onlyFunctions(r *Reader) {
	r.List(func() {
		module, name := r.Text(), r.Text()
		if kind := r.Byte(); kind != 0 {
			r.Refuse("it imports %s of %s, which is not a function", name, module)
		}
		r.Number()
	})
}

// element reads a segment of elements.
func (r *Reader) element() {
	mode := r.Number()
	if mode > 7 {
		r.Fail()
	}
	if mode&3 == 2 { // of a table with a number
		r.Number()
	}
	if mode&1 == 0 { // active
		r.Constant()
	}
	switch {
	case mode&4 != 0 && mode != 4:
		r.Type()
	case mode&3 != 0:
		r.Byte() // kind
	}
	if mode&4 != 0 {
		r.List(r.Constant)
	} else {
		r.List(r.number)
	}
}

// segment reads a segment of data.
func (r *Reader) segment() {
	mode := r.Number()
	if mode == 2 { // of a memory with a number
		r.Number()
	}
	if mode != 1 {
		r.Constant()
	}
	r.Text()
}

// locals reads the numbers of locals of all functions.
func locals(r *Reader) {
	all := 0
	function := 0
	r.List(func() {
		body := &Reader{Rest: r.Text()}
		own := 0
		body.List(func() {
			own += body.Number()
			body.Type()
		})
		if body.Err != nil {
			r.Fail()
		}
		if all += own; own > maxLocals || all > maxAllLocals {
			r.Refuse("its function %d (of those with code) has %d locals, all up to it %d: at most %d and %d", function, own,
				all, maxLocals, maxAllLocals)
		}
		function++
	})
}

// custom reads the name of a custom section, and the names in that of names.
func custom(r *Reader) {
	const (
		module    = 0
		functions = 1
		locals    = 2
	)
	if string(r.Text()) != "name" {
		return
	}
	assoc := func() { r.Number(); r.Text() }
	for len(r.Rest) > 0 {
		// wazero does not hold a list to the length of its part of the section, so that r is not cut to it.
		part, size := r.Byte(), r.Number()
		switch part {
		case module:
			r.Text()
		case functions:
			r.List(assoc)
		case locals:
			r.List(func() { r.Number(); r.List(assoc) })
		default:
			r.Take(size)
		}
	}
}
