package driverabi

// DeviceService is the registry service that publishes the device properties, and
// DevicePropertiesKey the dictionary in it (facts, section 9).
const (
	DeviceService       = "H11ANEIn"
	DevicePropertiesKey = "DeviceProperties"
)

// DeviceProperty is a row of table 27.9.
type DeviceProperty struct {
	Name    string
	Key     string // in the dictionary (facts, section 9)
	Number  uint32 // 0 for a row of text
	Text    string // "" for a row of a number
	Meaning string
}

// DeviceProperties is table 27.9: what the driver of an M1 publishes.
func DeviceProperties() []DeviceProperty {
	const p = "ANEDeviceProperty"
	return []DeviceProperty{
		{"architecture type string", p + "TypeANEArchitectureTypeStr", 0, "h13g",
			"family of the microarchitecture, which code is generated for"},
		{"version", p + "ANEVersion", 96, "", "major version of the hardware"},
		{"minor version", p + "ANEMinorVersion", 17, "", "minor revision"},
		{"board type", p + "ANEHWBoardType", 96, "", "board and system on chip"},
		{"board subtype", p + "ANEHWBoardSubType", 0, "", "variant of the board"},
		{"number of cores", p + "NumANECores", 16, "",
			"cores of this engine: a topology count, not the width of its multiply array"},
		{"number of engines", p + "NumANEs", 1, "", "engines; with one the load balancer passes through"},
		{"CPU subtype", p + "CPUSubType", 4, "", "gate of the program ABI"},
		{"internal build", p + "IsInternalBuild", 0, "No", "release build, gates the debug surfaces"},
	}
}

// Clients that the registry shows at rest (text below table 27.9): the standing hints
// client, and no control or direct-path client.
const (
	ControlClientsAtRest = 0
	DirectClientsAtRest  = 0
	HintsClientsAtRest   = 1
)

// Board is a board type with its subtype name (facts, section 9).
type Board struct {
	Type    uint32
	Subtype string
	G       bool // whether the subtype has the variant "g"
}

// Boards are the board types of section 9. Any other is taken for h15 by the
// framework, a fallback that says nothing of the hardware.
func Boards() []Board {
	var out []Board
	add := func(subtype string, types ...uint32) {
		for _, t := range types {
			switch t {
			case 64, 96, 128, 160, 176, 192, 224, 256, 272, 528:
				out = append(out, Board{t, subtype, true})
			default:
				out = append(out, Board{t, subtype, false})
			}
		}
	}
	add("h11", 1, 4)
	add("m9", 2)
	add("h12", 8)
	add("h13", 32, 64, 96)
	add("h14", 112, 128, 160)
	add("h15", 144, 176, 192, 224)
	add("h16", 208, 256, 272)
	add("m11", 240)
	add("h17", 512, 528)
	add("h18", 768)
	return out
}
