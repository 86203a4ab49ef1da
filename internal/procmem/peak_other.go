//go:build !unix

package procmem

import "time"

// Peak is 0: the system does not say.
func Peak() int64 { return 0 }

// Computed is 0 likewise.
func Computed() time.Duration { return 0 }
