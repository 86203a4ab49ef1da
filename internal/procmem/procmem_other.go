//go:build !linux || macrules

package procmem

import "errors"

// Proportional needs Linux: other systems count a page twice that is mapped twice.
func Proportional(...int) (int64, error) {
	return 0, errors.New("this system counts a page mapped twice as two pages")
}

// Mappings needs Linux.
func Mappings(int, func(*Mapping)) error {
	return errors.New("this system does not tell what pages a process has mapped")
}

// Frames needs Linux: other systems show no page frames.
func Frames(_ int, _ uint64, n int) (frames []uint64, shown bool) { return make([]uint64, n), false }
