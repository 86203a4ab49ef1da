//go:build !linux

package procmem

import "errors"

// Proportional needs Linux: other systems count a page twice that is mapped twice.
func Proportional(...int) (int64, error) {
	return 0, errors.New("this system counts a page mapped twice as two pages")
}
