//go:build !amd64

package quotient

import "github.com/anekit/anekit/ane/fp16"

func negated(dst, a, b []fp16.Bits) bool { return portable(dst, a, b) }
