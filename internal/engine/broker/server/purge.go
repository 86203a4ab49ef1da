package server

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// PurgeEverybody is the key by which a client with the entitlement for it purges the
// programs of all identities.
const PurgeEverybody = "*"

// purge removes programs from the cache, and hides those in memory from later
// compiles. Clients that run one go on: a purge never ends a run.
func (c *session) purge(payload []byte) (wire.Payload, error) {
	var q wire.Purge
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	var r wire.Purged
	switch q.Key {
	case PurgeEverybody:
		if err := c.grant.Allow("purge", driverabi.EntitlementPurgeAllPartitions); err != nil {
			return nil, err
		}
		c.live.purgeAll()
		r.Programs, r.Bytes = c.cache.purgeAll()
	case "":
		c.live.purge(c.grant.ID, nil)
		r.Programs, r.Bytes = c.cache.purge(c.grant.ID, nil)
	default:
		key, err := parseKey(q.Key)
		if err != nil {
			return nil, &ane.Error{Op: "purge", Engine: Name, Name: q.Key, Err: ane.Because(ane.ErrName, err),
				Hint: "send the key of a Compiled, or none for all"}
		}
		c.live.purge(c.grant.ID, &key)
		r.Programs, r.Bytes = c.cache.purge(c.grant.ID, &key)
	}
	return &r, nil
}
