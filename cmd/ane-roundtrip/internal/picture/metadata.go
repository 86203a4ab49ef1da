package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/bep/imagemeta"
)

// applyMetadata applies the orientation, and adds notes on profiles, color spaces and animations.
func (p *Picture) applyMetadata(parts []part) {
	var profile []byte // of a JPEG, in pieces
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
			p.noteProfile(unpackProfile(data))
		case "cICP":
			p.noteCoding(data)
		case "acTL":
			if len(data) >= 4 && binary.BigEndian.Uint32(data) > 1 {
				p.Notes = append(p.Notes,
					fmt.Sprintf("the picture is animated; only the still one of its %d pictures is filtered",
						binary.BigEndian.Uint32(data)))
			}
		}
	}
	if profile != nil {
		p.noteProfile(profileName(profile))
	}
	p.orient(p.Orientation)
}

// orientationOf returns the orientation in Exif data; 0 if there is none.
func orientationOf(exif []byte) int {
	found := 0
	_, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(exif), ImageFormat: imagemeta.TIFF, Sources: imagemeta.EXIF, LimitNumTags: 1000,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool {
			return tag.Namespace == "IFD0" &&
				tag.Tag == "Orientation"
		},
		HandleTag: func(tag imagemeta.TagInfo) error {
			if _, err := fmt.Sscan(fmt.Sprint(tag.Value), &found); err != nil {
				return err
			}
			return imagemeta.ErrStopWalking
		},
	})
	if err != nil || found < 1 || found > 8 {
		return 0
	}
	return found
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
