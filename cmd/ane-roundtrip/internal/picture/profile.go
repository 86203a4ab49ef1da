package picture

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// Limits of the tags and of the name that are read from a color profile.
const (
	maxTags = 200
	maxName = 200
)

// profileName returns the description of a color profile (ICC.1:2022, 7.2, 9.2.41
// and 10.15; 6.5.17 of version 2).
func profileName(profile []byte) string {
	at := func(from, n int) []byte {
		if from < 0 || n < 0 || from > len(profile) || n > len(profile)-from {
			return nil
		}
		return profile[from : from+n]
	}
	number := func(from int) int {
		if b := at(from, 4); b != nil {
			return int(binary.BigEndian.Uint32(b))
		}
		return 0
	}
	const head, entry = 128 + 4, 12
	for i := range min(number(head-4), maxTags) {
		row := head + i*entry
		if string(at(row, 4)) != "desc" {
			continue
		}
		tag := number(row + 4)
		switch string(at(tag, 4)) {
		case "desc":
			if name := printable(string(at(tag+12, min(number(tag+8), maxName)))); name != "" {
				return name
			}
		case "mluc":
			text := at(tag+number(tag+24), min(number(tag+20), maxName)&^1)
			var units []uint16
			for ; len(text) > 1; text = text[2:] {
				units = append(units, binary.BigEndian.Uint16(text))
			}
			if name := printable(string(utf16.Decode(units))); name != "" {
				return name
			}
		}
	}
	return unnamed
}

// printable returns s up to the first NUL.
func printable(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(s, "?"))
}
