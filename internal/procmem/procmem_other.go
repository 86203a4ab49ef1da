//go:build !linux

package procmem

import "errors"

// Proportional is for Linux: other systems do not count a page that is mapped
// twice once.
func Proportional(...int) (int64, error) {
	return 0, errors.New("this system does not tell a page mapped twice from two pages")
}
