package driverabi

// Tier is the class that the broker sorts an admitted client into (text below table
// 27.8).
type Tier string

// Tiers of the broker.
const (
	Restricted   Tier = "restricted"
	Unrestricted Tier = "unrestricted"
	PerUser      Tier = "per-user"
)

// Mach services of the broker (facts, section 3).
const (
	UnrestrictedService = "com.apple.appleneuralengine"
	RestrictedService   = "com.apple.appleneuralengine.private"
)

// Admission is what the broker demands of a caller for one of its methods.
type Admission struct {
	Method      string
	Tier        Tier
	Entitlement string // "" where none is demanded or, with a Note, where its key is unknown
	Source      string
	Note        string
}

// Admissions are the demands that are documented. Table 27.8 calls the baseline
// entitlement the one for compile and load; section 10 of the facts saw both without
// any on the unrestricted service, and only the real-time calls with it.
func Admissions() []Admission {
	const facts, text = "facts, section 10", "table 27.8 and text below"
	return []Admission{
		{"compile", Unrestricted, "", facts, "table 27.8 has the baseline entitlement for it"},
		{"load", Unrestricted, "", facts, "table 27.8 has the baseline entitlement for it"},
		{"unload", Unrestricted, "", facts, ""},
		{"exists", Unrestricted, "", facts, ""},
		{"purge", Unrestricted, "", facts, "of the caller's own identity"},
		{"begin real-time task", Restricted, EntitlementBaseline, facts, ""},
		{"end real-time task", Restricted, EntitlementBaseline, facts, ""},
		{"echo", Restricted, EntitlementBaseline, facts, ""},
		{"real-time load", Restricted, EntitlementBaseline, facts, "load at QoS 0"},
		{"adapter weights", Restricted, EntitlementAdapterWeight, text, "new instance; error 21 without"},
		{"process model share", Restricted, EntitlementProcessModelShare, text, ""},
		{"aggressive power saving", Restricted, EntitlementAggressivePower, text, ""},
		{"secondary compiler service", "", EntitlementSecondaryCompiler, text, "tier not documented"},
		{"purge in all partitions", "", EntitlementPurgeAllPartitions, text, "tier not documented"},
		{"memory unwire opt-out", "", "", facts, "key and tier not documented"},
		{"mutable weights", "", EntitlementMutableWeightsBuffer, facts, "macOS 27; tier not documented"},
	}
}

// InstanceArgument is an argument of create-instance that sets residency or power (text
// below table 27.8).
type InstanceArgument struct {
	Name   string
	Effect string
	Tier   Tier // the tier that may set it, "" for all
}

// AdapterArguments are what the create-instance method with weights names beside: an
// instance holds the weight files of its adapter and no others (text below table 27.8).
func AdapterArguments() []string {
	return []string{"base-model identifier", "weight-file count"}
}

// InstanceArguments are the arguments of create-instance.
func InstanceArguments() []InstanceArgument {
	return []InstanceArgument{
		{"enable power saving", "saves power", ""},
		{"aggressive power saving", "saves more of it", Restricted},
		{"opt out of model memory unwiring", "keeps the weights resident, at the cost of footprint", ""},
		{"queue depth", "requests in flight; the broker lowers it under contention", ""},
	}
}
