package standin

import (
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// systems are the releases of macOS whose compiler reads the old dialect of MIL alone, by their profiles.
var systems = map[string]chip.OS{"15": 12, "16.5": 13, "17": 14}

// reads refuses a text that the compiler of a profile does not know: up to macOS 14 one with a later opset, and one
// that is not wholly in the old dialect. Mixtures were never tried on such a system.
func reads(profile, file string, p *mil.Program) error {
	system, old := systems[profile]
	if !old {
		return nil
	}
	for _, f := range p.Funcs {
		if os, known := chip.Opset(f.Opset); !known || os > system {
			return &mil.Error{File: file, Pos: f.Pos, Msg: f.Opset + " is no opset of " + system.String(),
				Hint: "convert the program to the old dialect"}
		}
	}
	converted, err := mil.Convert(p, mil.OldText)
	if err != nil {
		return err
	}
	if !mil.Equal(p, converted) {
		return &mil.Error{File: file, Pos: p.Pos, Msg: "the program is not in the dialect of " + system.String(),
			Hint: "convert the program to the old dialect"}
	}
	return nil
}
