package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// readChunks reads the metadata in the chunks of a file that was decoded, if it is a PNG.
func (p *Picture) readChunks(data []byte) {
	const head, checksum = 8, 4
	data, png := bytes.CutPrefix(data, []byte(pngSignature))
	for kind := ""; png && len(data) >= head && kind != "IEND"; {
		kind = string(data[4:head])
		end := min(head+int(binary.BigEndian.Uint32(data)), len(data))
		p.metadata(kind, data[head:end])
		data = data[min(end+checksum, len(data)):]
	}
}

// readSegments reads the metadata in the segments of a file that was decoded, if it is a JPEG, up to the samples.
func (p *Picture) readSegments(data []byte) {
	const marker, samples, head = 0xff, 0xda, 4
	data, jpeg := bytes.CutPrefix(data, []byte("\xff\xd8"))
	for jpeg && len(data) >= head && data[0] == marker && data[1] != samples {
		end := 1 // of a byte that fills the file
		if data[1] != marker {
			end = min(2+max(int(binary.BigEndian.Uint16(data[2:])), 2), len(data))
			p.metadata(string(data[:2]), data[head:end])
		}
		data = data[end:]
	}
}

// metadata looks into a chunk of a PNG or a segment of a JPEG for the orientation, and for what the decoder ignores.
func (p *Picture) metadata(kind string, data []byte) {
	const ignored = "the %s is ignored: samples are filtered as stored, and written without it"
	exif, isExif := bytes.CutPrefix(data, []byte("Exif\x00\x00"))
	switch {
	case kind == "\xff\xe1" && isExif:
		p.metadata("eXIf", exif)
	case kind == "eXIf" && p.Orientation == 0:
		p.Orientation = orientationOf(data)
	case kind == "iCCP", kind == "\xff\xe2" && bytes.HasPrefix(data, []byte("ICC_PROFILE\x00")):
		p.note(fmt.Sprintf(ignored, "color profile (ICC)"))
	case kind == "cICP":
		p.note(fmt.Sprintf(ignored, "color space (cICP)"))
	case kind == "acTL" && len(data) >= 4 && binary.BigEndian.Uint32(data) > 1:
		p.note(fmt.Sprintf("the animation of %d pictures is left out; only the still picture is filtered",
			binary.BigEndian.Uint32(data)))
	}
}

// note adds a note once, since a JPEG may have a profile in pieces, and not more than there are kinds of notes.
func (p *Picture) note(text string) {
	if len(p.Notes) < 3 && !slices.Contains(p.Notes, text) {
		p.Notes = append(p.Notes, text)
	}
}

// orientationOf returns the orientation in Exif data; 0 if there is none. Exif data is a TIFF file, and the orientation
// an entry of its first directory (TIFF 6.0, sections 2 and 8).
func orientationOf(exif []byte) int {
	const tag, bytesType, short, long = 274, 1, 3, 4
	orders := map[string]binary.ByteOrder{"II*\x00": binary.LittleEndian, "MM\x00*": binary.BigEndian}
	order := orders[string(exif[:min(len(exif), 4)])]
	if order == nil || len(exif) < 8 {
		return 0
	}
	directory := bytes.NewReader(exif[min(int(order.Uint32(exif[4:])), len(exif)):])
	var entries uint16
	var entry struct {
		Tag, Type uint16
		Values    uint32
		Value     [4]byte
	}
	_ = binary.Read(directory, order, &entries) // at the end of the data there are none
	for range entries {
		if binary.Read(directory, order, &entry) != nil {
			return 0
		}
		if entry.Tag == tag && entry.Values == 1 {
			found := map[uint16]uint32{
				bytesType: uint32(entry.Value[0]),
				short:     uint32(order.Uint16(entry.Value[:])),
				long:      order.Uint32(entry.Value[:]), // not permitted, but written by some programs
			}[entry.Type]
			if found <= 8 {
				return int(found)
			}
		}
	}
	return 0
}

// orient turns the picture upright. Orientations are those of Exif 3.0, tag 274: 1 upright, 2 mirrored, 3 upside down,
// 4 both, 5 to 8 the same with rows and columns exchanged.
func (p *Picture) orient() {
	if p.Orientation < 2 {
		return
	}
	old, size, exchanged := *p, p.step, p.Orientation > 4
	if exchanged {
		p.Width, p.Height = old.Height, old.Width
	}
	p.stride = p.Width * size
	p.pix = make([]uint8, p.stride*p.Height)
	for y := range p.Height {
		row := p.row(y)
		for x := range p.Width {
			fromX, fromY := x, y
			if exchanged {
				fromX, fromY = y, x
			}
			switch p.Orientation {
			case 2, 8:
				fromX = old.Width - 1 - fromX
			case 4, 6:
				fromY = old.Height - 1 - fromY
			case 3, 7:
				fromX, fromY = old.Width-1-fromX, old.Height-1-fromY
			}
			copy(row[x*size:(x+1)*size], old.row(fromY)[fromX*size:])
		}
	}
}
