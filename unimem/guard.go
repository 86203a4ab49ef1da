package unimem

import (
	"errors"
	"fmt"
	"runtime/debug"
	"syscall"
)

// Guard calls f, which reads Blocks of MapFile. If one of their files becomes shorter during f, so
// that f reads pages that exist no more, the error matches ErrChanged and f has ended early. The
// error is the same if f has returned and a file is shorter than it was when it was mapped:
// the end of the last page then reads as zeros; and if a system call of f that reads such pages has
// failed (EFAULT). Otherwise Guard returns the error of f.
//
// A fault may be in any Mapping of the Blocks, which must be open until Guard returns. Only the
// goroutine of f is guarded, and those that take over its debug.SetPanicOnFault. Faults at other
// addresses, and other panics, reach the caller of Guard as panics. Deferred calls of f run in
// every case.
func Guard(f func() error, blocks ...*Block) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		at, ok := faultAddress(v)
		if !ok {
			panic(v)
		}
		for _, b := range blocks {
			if offset, ok := b.place(at); ok {
				err = b.changed(fmt.Errorf("byte %d of the file exists no more", offset))
				return
			}
		}
		panic(v)
	}()
	err = f()
	refused := errors.Is(err, syscall.EFAULT) // by a system call that reads the pages
	if err != nil && !refused {
		return err
	}
	for _, b := range blocks {
		if _, file := b.file(); file && (refused || b.shorter()) {
			return b.changed(nil)
		}
	}
	return err
}

// file returns the file of b, if b maps one.
func (b *Block) file() (shrinkable, bool) {
	if b == nil || b.back == nil {
		return nil, false
	}
	file, ok := b.back.(shrinkable)
	return file, ok
}

// place returns the offset of an address in the file of b.
func (b *Block) place(at uintptr) (uintptr, bool) {
	if file, ok := b.file(); ok {
		return file.place(at)
	}
	return 0, false
}

// shorter reports whether the file of b is shorter than it was when it was mapped.
func (b *Block) shorter() bool {
	file, ok := b.file()
	if !ok || !b.life.retain() {
		return false
	}
	defer b.life.release()
	return file.shrunk()
}

func (b *Block) changed(cause error) error {
	return &Error{Op: "read", Size: len(b.mem), Err: ErrChanged, Cause: cause,
		Hint: "open the file again, or load it into memory of its own"}
}

// faultAddress returns the address of a memory fault that was recovered. The panic may come
// from another goroutine, wrapped in an error.
func faultAddress(v any) (uintptr, bool) {
	err, ok := v.(error)
	if !ok {
		return 0, false
	}
	var fault interface {
		error
		Addr() uintptr
	}
	if !errors.As(err, &fault) {
		return 0, false
	}
	return fault.Addr(), true
}
