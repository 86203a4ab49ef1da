package driverabi

// KextBuild is the build of all three kernel extensions on the M1 generation; they are
// locked to one version (text below table 27.1).
const KextBuild = "9.511.3"

// Kext is a row of table 27.1.
type Kext struct {
	Role     string
	Bundle   string
	Class    string // principal class
	Register string // the name the class registers under or goes by, if another
	Match    string // what its provider has to match
}

// Kexts is table 27.1, in its order.
func Kexts() []Kext {
	return []Kext{
		{"interface and hardware driver", "AppleH11ANEInterface", "ANEHWDevice", "H11ANEIn",
			"RTBuddyService, role ANE"},
		{"per-die abstraction layer", "AppleT8132ANEHAL", "AppleT8132ANEHAL", "", "IOResources"},
		{"multi-engine arbiter", "AppleANELoadBalancer", "ANEDriver", "H1xANELoadBalancer", "IOResources, IOKit"},
	}
}

// SubmitPath is listing 27.5: what a submit on selector 2 of the control client, or on
// selector 4 of the direct path, passes on its way to the doorbell.
func SubmitPath() []string {
	return []string{
		"H11ANEInUserClient::externalMethod",
		"IOUserClient2022::dispatchExternalMethod",
		"ANE_ProgramSendRequest",
		"ANEClientDevice::programSendRequest",
		"ANEDriver::ANE_ProgramSendRequest",
		"ANEHWDevice::doorBellRing",
		"ANERegisterControl::write32",
	}
}
