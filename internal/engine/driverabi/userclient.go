package driverabi

// Classes of the user clients that ANEHWDevice::newUserClient vends, by requested type
// (listing 27.1). The numbers of the types are not documented.
const (
	ControlClient = "H11ANEInUserClient"
	DirectClient  = "H11ANEInDirectPathClient"
	HintsClient   = "ANEClientHints"
)

// SelectorCount is how many selectors the two clients have together (text above listing
// 27.2).
const SelectorCount = ControlCount + DirectCount

// ConnectionOffset is where a user client keeps its connection, and where the device
// handle of the user-space side keeps it too (text below listing 27.1).
const ConnectionOffset = 0x40

// OpenType is the value with which the device is opened in user space (text below
// listing 27.1). The source calls it both a return type of IOServiceOpen and the type
// that the front ends open; it is the same number as NotOpen.
const OpenType uint32 = 0xe00002c5

// Front ends that open a user client of OpenType (text below listing 27.1).
const (
	InferenceFrontEnd = "ANEServicesDevice"
	AdminFrontEnd     = "ANEHWDevice"
)

// UserClient is a line of listing 27.1 with its dispatch array of listing 27.3.
type UserClient struct {
	Class string
	Role  string
	// Array is the symbol of the dispatch array and ArrayPage its offset in its 4 KiB
	// page, on an M1 (T6000); empty and 0 for a client without selectors.
	Array     string
	ArrayPage uint32
	Methods   func() []Method // nil for a client without selectors
}

// UserClients is listing 27.1, in its order.
func UserClients() []UserClient {
	return []UserClient{
		{ControlClient, "program lifecycle and inference", "_sANEDriverClientMethods", 0xc08, ControlMethods},
		{DirectClient, "enqueue, memory map, session hint", "_sANEDriverDirectPathClientMethods", 0xeb0, DirectMethods},
		{HintsClient, "scheduling hints (setClientHint)", "", 0, nil},
	}
}

// UserSpaceSelector is a selector number found in user-space code on an M1.
type UserSpaceSelector struct {
	Selector int
	Call     string
}

// UserSpaceSelectors are the selector numbers found in user space (text below listing
// 27.1). The source says that only 0 and 2 have to agree with the kernel's table, as
// there are two clients; the seven listed all agree with table 27.2.
func UserSpaceSelectors() []UserSpaceSelector {
	return []UserSpaceSelector{
		{0, "device open"},
		{2, "send request"},
		{3, "create"},
		{4, "prepare"},
		{6, "destroy"},
		{10, "version query"},
		{16, "firmware load"},
	}
}

// The two forms in which a compiled program reaches the kernel (text below table 27.3).
const (
	LegacyResource  = "ANEProgramLegacyResource" // loader of the program-image executable
	RuntimeResource = "ANEProgramRTResource"     // op graph for the runtime
)
