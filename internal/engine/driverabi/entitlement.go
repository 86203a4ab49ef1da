package driverabi

// Keys of entitlements (listing 27.6, tables 27.7 and 27.8).
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

// Tier is the class that the broker sorts an admitted client into (text below table
// 27.8).
type Tier string

// Tiers of the broker.
const (
	Restricted   Tier = "restricted"
	Unrestricted Tier = "unrestricted"
	PerUser      Tier = "per-user"
)

// Enforcer is what checks an entitlement.
type Enforcer string

// Enforcers of the entitlement tables.
const (
	Kernel  Enforcer = "kernel driver"
	Broker  Enforcer = "broker"
	Sandbox Enforcer = "sandbox"
	Trust   Enforcer = "trust cache"
)

// Entitlement is a row of table 27.7 or 27.8.
type Entitlement struct {
	Key        string
	Capability string
	Enforcer   Enforcer
	Holders    string // how many system binaries of an M1 hold it, or what table 27.8 has instead
	Source     string
}

// Entitlements are table 27.8 and, after it, table 27.7: what the driver checks beyond the
// two gates. Those, which listing 27.6 has too, are the rows of table 27.8 that the kernel
// driver checks: once, when a user client is opened.
func Entitlements() []Entitlement {
	const family, driver = "table 27.8", "table 27.7"
	return []Entitlement{
		{EntitlementOpen, "opening the user client: the hard gate", Kernel, "2: the broker and its per-user sibling",
			family},
		{EntitlementDataChaining, "resident data chaining on the direct path", Kernel, "kernel-checked at client init",
			family},
		{EntitlementBaseline, "compile, load and instantiate through the broker", Broker, "18", family},
		{EntitlementAccess, "variant of the baseline for inference clients", Broker, "14", family},
		{EntitlementAdapterWeight, "adapter weights on a resident base model", Broker, "5", family},
		{EntitlementProcessModelShare, "one resident model for several processes", Broker, "4", family},
		{EntitlementSecondaryCompiler, "the compiler service for large models, which may take longer", Broker, "1",
			family},
		{EntitlementAggressivePower, "the execution mode that saves power aggressively", Broker, "gate helper only",
			family},
		{EntitlementPurgeAllPartitions, "purging models in all cache partitions", Broker, "gate helper only", family},
		{EntitlementUserClientException, "a direct-path client of one's own", Sandbox, "27", family},
		{EntitlementTrustCacheClient, "a slot in the trust cache for clients that need low latency", Trust, "5",
			family},
		{EntitlementRealTime, "real-time priority", Kernel, "", driver},
		{EntitlementReservedPriorities, "priorities reserved to the system", Kernel, "", driver},
		{EntitlementMemory, "memory access", Kernel, "", driver},
		{EntitlementData, "data access", Kernel, "", driver},
		{EntitlementClientHints, "hints for each client", Kernel, "", driver},
		{EntitlementCoalitionHints, "hints shared in a coalition", Kernel, "", driver},
	}
}
