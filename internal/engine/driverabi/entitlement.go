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
	// facts, section 10; in no table
	EntitlementMutableWeightsBuffer = "com.apple.private.ane.mappingMutableWeightsBuffer.allow"
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

// NotCounted is the Holders of an entitlement without a count.
const NotCounted = -1

// Entitlement is a row of listing 27.6 or of table 27.7 or 27.8.
type Entitlement struct {
	Key        string
	Capability string
	Enforcer   Enforcer
	// Holders is how many system binaries of an M1 hold it, or NotCounted; Who says
	// what the source says of them.
	Holders int
	Who     string
	Source  string
}

// KernelGates is listing 27.6: what is checked once, when a user client is opened.
func KernelGates() []Entitlement {
	const t = "listing 27.6"
	return []Entitlement{
		{EntitlementOpen, "opening the device at all", Kernel, 2, "the broker and its per-user sibling", t},
		{EntitlementDataChaining, "resident data chaining", Kernel, NotCounted, "", t},
	}
}

// KernelEntitlements is table 27.7: what the driver checks beyond the two gates.
func KernelEntitlements() []Entitlement {
	const t = "table 27.7"
	return []Entitlement{
		{EntitlementRealTime, "real-time priority", Kernel, NotCounted, "", t},
		{EntitlementReservedPriorities, "priorities reserved to the system", Kernel, NotCounted, "", t},
		{EntitlementMemory, "memory access", Kernel, NotCounted, "", t},
		{EntitlementData, "data access", Kernel, NotCounted, "", t},
		{EntitlementClientHints, "hints for each client", Kernel, NotCounted, "", t},
		{EntitlementCoalitionHints, "hints shared in a coalition", Kernel, NotCounted, "", t},
	}
}

// EntitlementFamily is table 27.8, from a scan of the system binaries of an M1.
func EntitlementFamily() []Entitlement {
	const t = "table 27.8"
	return []Entitlement{
		{EntitlementOpen, "opening the user client: the hard gate", Kernel, 2, "the broker and its per-user sibling",
			t},
		{EntitlementDataChaining, "resident data chaining on the direct path", Kernel, NotCounted,
			"kernel-checked at client init", t},
		{EntitlementBaseline, "compile, load and instantiate through the broker", Broker, 18, "", t},
		{EntitlementAccess, "variant of the baseline for inference clients", Broker, 14, "", t},
		{EntitlementAdapterWeight, "adapter weights on a resident base model", Broker, 5, "", t},
		{EntitlementProcessModelShare, "one resident model for several processes", Broker, 4, "", t},
		{EntitlementSecondaryCompiler, "the compiler service for large models, which may take longer", Broker, 1, "",
			t},
		{EntitlementAggressivePower, "the execution mode that saves power aggressively", Broker, NotCounted,
			"gate helper only", t},
		{EntitlementPurgeAllPartitions, "purging models in all cache partitions", Broker, NotCounted,
			"gate helper only", t},
		{EntitlementUserClientException, "a direct-path client of one's own", Sandbox, 27, "", t},
		{EntitlementTrustCacheClient, "a slot in the trust cache for clients that need low latency", Trust, 5, "", t},
	}
}
