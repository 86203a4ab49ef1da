package driverabi

// Keys of entitlements. The first two are the gates of listing 27.6, which the kernel driver checks once, when a user
// client is opened; the six after them are table 27.7. The others are of table 27.8: the broker checks
// those of com.apple.aned, the sandbox and the trust cache the last two.
const (
	EntitlementOpen                = "com.apple.ane.iokit-user-access"
	EntitlementDataChaining        = "com.apple.ane.allow-dataChaining-access"
	EntitlementRealTime            = "com.apple.ane.realtime-priority-client"
	EntitlementReservedPriorities  = "com.apple.ane.allow-system-reserved-priorities"
	EntitlementMemory              = "com.apple.ane.memory"
	EntitlementData                = "com.apple.ane.allow-data"
	EntitlementClientHints         = "com.apple.private.ane.allow-set-client-hints"
	EntitlementCoalitionHints      = "com.apple.private.ane.allow-share-coalition-hints"
	EntitlementBaseline            = "com.apple.aned.private.allow"
	EntitlementAccess              = "com.apple.aned.private.ANEAccess.allow"
	EntitlementAdapterWeight       = "com.apple.aned.private.adapterWeight.allow"
	EntitlementProcessModelShare   = "com.apple.aned.private.processModelShare.allow"
	EntitlementSecondaryCompiler   = "com.apple.aned.private.secondaryANECompilerServiceAccess.allow"
	EntitlementAggressivePower     = "com.apple.aned.private.aggressivePowerSaving"
	EntitlementPurgeAllPartitions  = "com.apple.aned.private.modelPurgeInAllPartitions"
	EntitlementUserClientException = "com.apple.security.temporary-exception.iokit-user-client-class"
	EntitlementTrustCacheClient    = "com.apple.security.ts.ane-client"
)

// Entitlements lists the keys of tables 27.7 and 27.8.
func Entitlements() []string {
	return []string{EntitlementOpen, EntitlementDataChaining, EntitlementRealTime, EntitlementReservedPriorities,
		EntitlementMemory, EntitlementData, EntitlementClientHints, EntitlementCoalitionHints, EntitlementBaseline,
		EntitlementAccess, EntitlementAdapterWeight, EntitlementProcessModelShare, EntitlementSecondaryCompiler,
		EntitlementAggressivePower, EntitlementPurgeAllPartitions, EntitlementUserClientException,
		EntitlementTrustCacheClient}
}

// Tier is the class that the broker sorts an admitted client into (text below table
// 27.8).
type Tier string

// Tiers of the broker.
const (
	Restricted   Tier = "restricted"
	Unrestricted Tier = "unrestricted"
	PerUser      Tier = "per-user"
)
