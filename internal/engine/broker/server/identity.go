package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Identity is what a client is known by: user and executable, in place of the team
// identifier and the code-directory hash of a signed program. Two clients of one
// Identity share caches and programs in memory; others never do.
type Identity struct {
	User       uint32
	Executable [sha256.Size]byte
}

// String is the partition of the cache that belongs to the identity.
func (i Identity) String() string { return fmt.Sprintf("%d-%s", i.User, i.executable()) }

func (i Identity) executable() string { return hex.EncodeToString(i.Executable[:]) }
