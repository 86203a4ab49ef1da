package driverabi

// Capability is a bit that ANEClientInfo::create stamps on a client when it is made,
// from an entitlement that copyClientEntitlement reads. It is not checked again for each
// selector (text below listing 27.6).
type Capability struct {
	Name        string
	Entitlement string
}

// Capabilities are the two bits that are documented. That isPrivileged is the bit of the
// open gate is this package's reading: the source names the bits and the gates in the
// same order and does not join them.
func Capabilities() []Capability {
	return []Capability{
		{"isPrivileged", EntitlementOpen},
		{"allowDataChaining", EntitlementDataChaining},
	}
}
