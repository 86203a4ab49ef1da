package mil

// scanNumber measures the number at the start of s. An optional minus sign precedes a decimal with optional fraction
// and exponent, a C99 hexadecimal float, inf or nan. If the text is not a number, hint says how to fix it, and n covers
// the malformed run. n is at least 1 for non-empty s.
func scanNumber(s string) (n int, hint string) {
	sign := 0
	if s != "" && s[0] == '-' {
		sign = 1
	}
	if rest := s[sign:]; rest != "" && in(rest[0], letters) {
		n = identLen(rest)
		if word := rest[:n]; word != "inf" && word != "nan" {
			hint = "write a minus sign only before a number, inf or nan"
		}
		return sign + n, hint
	}
	n, hint = scanDigits(s[sign:])
	n += sign
	if hint == "" {
		if n == len(s) || s[n] != '.' && !in(s[n], letters|digits) {
			return n, ""
		}
		hint = "write a number without a suffix, such as 1, 0.5, 1e-3 or 0x1p-1"
	}
	for n < len(s) && (s[n] == '.' || in(s[n], letters|digits)) {
		n++
	}
	return max(n, min(1, len(s))), hint
}

// scanDigits measures digits [. digits] [e [sign] digits], or 0x digits [. digits] p [sign] digits. A non-empty hint
// means a fault.
func scanDigits(s string) (n int, hint string) {
	hex := len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'
	set, exponent := digits, byte('e')
	if hex {
		set, exponent, n = hexDigits, 'p', 2
	}
	whole, fraction := span(s[n:], set), 0
	n += whole
	if whole == 0 && !hex {
		return n, "a number starts with a digit, such as 0.5"
	}
	if n < len(s) && s[n] == '.' {
		fraction = span(s[n+1:], set)
		n += 1 + fraction
		if fraction == 0 && !hex {
			return n, "a digit follows the point, such as 1.0"
		}
	}
	switch {
	case whole+fraction == 0:
		return n, "a hexadecimal float has digits, such as 0x1p-1"
	case n < len(s) && s[n]|0x20 == exponent:
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		d := span(s[n:], digits)
		if d == 0 {
			hint = "digits follow the exponent's letter, such as 1e-3 or 0x1p-1"
		}
		return n + d, hint
	case hex:
		return n, "a hexadecimal float has an exponent, such as " + shorten(s[:n]) + "p+0; bit patterns are not supported"
	}
	return n, ""
}

func validNumber(s string) bool {
	n, hint := scanNumber(s)
	return s != "" && hint == "" && n == len(s)
}
