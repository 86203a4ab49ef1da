package server

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// PurgeEverybody is the key by which a client with the entitlement for it purges the
// programs of all identities.
const PurgeEverybody = "*"

// purge removes programs from the cache, and has those in memory not found by later
// compiles. Who runs one goes on: a purge never ends a run.
func (c *session) purge(f *wire.Frame) error {
	var q wire.Purge
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	var r wire.Purged
	switch q.Key {
	case PurgeEverybody:
		if err := c.allow("purge", driverabi.EntitlementPurgeAllPartitions); err != nil {
			return err
		}
		c.live.purgeAll()
		r.Programs, r.Bytes = c.cache.purgeAll()
	case "":
		c.live.purge(c.id, nil)
		r.Programs, r.Bytes = c.cache.purge(c.id, nil)
	default:
		key, err := parseKey(q.Key)
		if err != nil {
			return &ane.Error{Op: "purge", Engine: Name, Name: q.Key, Err: ane.Because(ane.ErrName, err), Hint: "send the key of a Compiled, or none for all"}
		}
		c.live.purge(c.id, &key)
		r.Programs, r.Bytes = c.cache.purge(c.id, &key)
	}
	return c.reply(f, &r)
}
