package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// applyMetadata applies the orientation, and adds notes on profiles, color spaces and animations.
func (p *Picture) applyMetadata(parts []part) {
	var profile []byte          // of a JPEG, in pieces
	var gamma, primaries string // other than those of sRGB
	named := false              // whether a chunk that precedes gAMA and cHRM describes the colors
	for _, t := range parts {
		data := t.data
		switch t.kind {
		case "APP1":
			if exif, ok := bytes.CutPrefix(data, []byte("Exif\x00\x00")); ok && p.Orientation == 0 {
				p.Orientation = orientationOf(exif)
			}
		case "eXIf":
			if p.Orientation == 0 {
				p.Orientation = orientationOf(data)
			}
		case "APP2":
			if piece, ok := bytes.CutPrefix(data, []byte("ICC_PROFILE\x00")); ok && len(piece) > 2 {
				profile = append(profile, piece[2:]...)
			}
		case "iCCP":
			named = true
			p.noteProfile(unpackProfile(data))
		case "cICP":
			named = true
			p.noteCoding(data)
		case "sRGB":
			named = true
		case "gAMA":
			gamma = otherGamma(data)
		case "cHRM":
			primaries = otherPrimaries(data)
		case "acTL":
			if len(data) >= 4 && binary.BigEndian.Uint32(data) > 1 {
				p.Notes = append(p.Notes,
					fmt.Sprintf("the animation of %d pictures is left out; only the still picture is filtered",
						binary.BigEndian.Uint32(data)))
			}
		}
	}
	if profile != nil {
		p.noteProfile(profileName(profile))
	}
	if other := strings.TrimPrefix(gamma+primaries, ", "); other != "" && !named {
		p.Notes = append(p.Notes, other+": neither applied nor written; samples are filtered as stored")
	}
	p.orient(p.Orientation)
}

// colorUnit is 1 in the numbers of gAMA and cHRM (PNG third edition, 11.3.2).
const colorUnit = 100000

// checksum is the number of bytes after the data of a chunk, which a part keeps.
const checksum = 4

// otherGamma describes the gamma of a gAMA chunk; empty for that of sRGB.
func otherGamma(data []byte) string {
	if len(data) != 4+checksum {
		return ""
	}
	g := int64(binary.BigEndian.Uint32(data))
	const srgb, near = 45455, 1000
	if g >= srgb-near && g <= srgb+near {
		return ""
	}
	return fmt.Sprintf(", gamma %.5g", float64(g)/colorUnit)
}

// gamuts are the red, green and blue primaries (x, y) of color spaces, sRGB first.
var gamuts = []struct {
	name string
	at   [6]int64
}{
	{"sRGB", [6]int64{64000, 33000, 30000, 60000, 15000, 6000}},
	{"Display P3", [6]int64{68000, 32000, 26500, 69000, 15000, 6000}},
	{"Adobe RGB", [6]int64{64000, 33000, 21000, 71000, 15000, 6000}},
	{"BT.2020", [6]int64{70800, 29200, 17000, 79700, 13100, 4600}},
}

// otherPrimaries describes the primaries of a cHRM chunk; empty for those of sRGB.
func otherPrimaries(data []byte) string {
	if len(data) != 32+checksum {
		return ""
	}
	for i, g := range gamuts {
		same := true
		for k, want := range g.at {
			got := int64(binary.BigEndian.Uint32(data[8+4*k:])) // the white point comes first
			same = same && max(got-want, want-got) <= colorUnit/200
		}
		switch {
		case same && i == 0:
			return ""
		case same:
			return ", primaries of " + g.name
		}
	}
	return ", primaries of another color space than sRGB"
}

// orientationOf returns the orientation in Exif data; 0 if there is none. Exif data is a TIFF file, and the orientation
// an entry of its first directory (TIFF 6.0, sections 2 and 8).
func orientationOf(exif []byte) int {
	const tag, bytesType, short, long, entry = 274, 1, 3, 4, 12
	order := binary.ByteOrder(binary.BigEndian)
	if bytes.HasPrefix(exif, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(exif) < 8 || !bytes.HasPrefix(exif, []byte("II*\x00")) && !bytes.HasPrefix(exif, []byte("MM\x00*")) {
		return 0
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 0
	}
	rest := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(rest) < entry {
			return 0
		}
		if order.Uint16(rest) == tag {
			if order.Uint32(rest[4:]) != 1 { // values
				return 0
			}
			found := uint32(0)
			switch order.Uint16(rest[2:]) {
			case bytesType:
				found = uint32(rest[8])
			case short:
				found = uint32(order.Uint16(rest[8:]))
			case long: // not permitted, but written by some programs
				found = order.Uint32(rest[8:])
			}
			if found > 8 {
				return 0
			}
			return int(found)
		}
		rest = rest[entry:]
	}
	return 0
}

// noteProfile adds a note on a color profile other than sRGB.
func (p *Picture) noteProfile(name string) {
	if !strings.Contains(strings.ToLower(name), "srgb") {
		p.Notes = append(p.Notes, fmt.Sprintf("the color profile %q is neither applied nor written; samples are "+
			"filtered as stored", name))
	}
}

// noteCoding adds a note on a color space other than sRGB, given by code points (ITU-T H.273).
func (p *Picture) noteCoding(data []byte) {
	if len(data) < 2 || data[0] == 1 && data[1] != 16 && data[1] != 18 {
		return
	}
	gamut, ok := map[byte]string{1: "BT.709", 9: "BT.2020", 11: "DCI-P3", 12: "Display P3"}[data[0]]
	if !ok {
		gamut = fmt.Sprintf("primaries %d", data[0])
	}
	if transfer := map[byte]string{16: ", PQ", 18: ", HLG"}[data[1]]; transfer != "" {
		gamut += transfer
	}
	p.Notes = append(p.Notes, fmt.Sprintf("the colors of %s are not converted, and their coding is not written; "+
		"samples are filtered as stored", gamut))
}

// unpackProfile returns the name of the profile in an iCCP chunk: the name in the profile or, if it has
// none, the name in the chunk.
func unpackProfile(chunk []byte) string {
	name, packed, ok := bytes.Cut(chunk, []byte{0})
	if ok && len(packed) > 1 {
		if z, err := zlib.NewReader(bytes.NewReader(packed[1:])); err == nil {
			profile, _ := io.ReadAll(io.LimitReader(z, maxPart)) // a damaged profile is used as far as it goes
			if inner := profileName(profile); inner != unnamed {
				return inner
			}
		}
	}
	if len(name) == 0 || len(name) > 79 {
		return unnamed
	}
	return string(name)
}

// unnamed stands for the name of a profile without one.
const unnamed = "without a name"
