package picture

import (
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"unicode/utf8"
)

// format is a kind of file that can be read.
type format struct {
	name   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// sniffed is how many bytes at the start of a file determine its format.
const sniffed = 64

// A PNG starts with its signature and the IHDR chunk. The color type follows length, type, width,
// height and bit depth (PNG third edition, 5.2 and 11.2.1).
const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	pngColorType = len(pngSignature) + 4 + 4 + 4 + 4 + 1
	pngColorBit  = 2 // of the color type; 0 for a gray PNG
)

// formatOf returns the format of a file by its first bytes, or a description of another kind of file.
// gray reports a gray PNG, which has three colors in its decoded form if it has opacity.
func formatOf(head []byte) (f format, gray bool, other string) {
	switch start := string(head); {
	case strings.HasPrefix(start, pngSignature):
		gray = len(head) > pngColorType && head[pngColorType]&pngColorBit == 0
		return format{"PNG", png.DecodeConfig, png.Decode}, gray, ""
	case strings.HasPrefix(start, "\xff\xd8\xff"):
		return format{"JPEG", jpeg.DecodeConfig, jpeg.Decode}, false, ""
	default:
		return format{}, false, otherName(start)
	}
}

// otherName describes a file that is neither PNG nor JPEG.
func otherName(start string) string {
	has := func(at int, text string) bool { return len(start) >= at && strings.HasPrefix(start[at:], text) }
	switch {
	case start == "":
		return "the file is empty"
	case has(0, "GIF8"):
		return "this is a GIF"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "this is a WebP picture"
	case has(0, "BM"):
		return "this is a BMP picture"
	case has(0, "II*\x00"), has(0, "MM\x00*"):
		return "this is a TIFF picture"
	case has(4, "ftypavi"):
		return "this is an AVIF picture"
	case has(4, "ftyphei"), has(4, "ftypmif1"):
		return "this is a HEIC picture"
	case has(4, "ftyp"):
		return "this is a movie (MP4 or QuickTime)"
	case has(0, "\x00\x00\x00\x0cJXL "), has(0, "\xff\x0a"):
		return "this is a JPEG XL picture"
	case has(0, "%PDF"):
		return "this is a PDF document"
	case isText(start):
		return "this is a text file"
	}
	return "this is neither PNG nor JPEG"
}

// isText reports whether s is text. The last character may be incomplete.
func isText(s string) bool {
	for i, r := range s {
		cut := r == utf8.RuneError && len(s)-i < utf8.UTFMax && len(s) == sniffed
		if r < ' ' && !strings.ContainsRune("\t\n\r\f", r) || r == utf8.RuneError && !cut {
			return false
		}
	}
	return true
}
