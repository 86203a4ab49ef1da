package mil

// scanNumber measures the number at the start of s: an optional minus sign,
// then a decimal with optional fraction and exponent, a C99 hexadecimal float,
// inf or nan. If the text is not a number, msg says why, hint how to fix it, and
// n covers the malformed run. n is at least 1 for non-empty s.
func scanNumber(s string) (n int, msg, hint string) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	rest := s[i:]
	switch {
	case rest != "" && letter(rest[0]):
		w := identLen(rest)
		if rest[:w] == "inf" || rest[:w] == "nan" {
			return i + w, "", ""
		}
		return i + w, "malformed number " + quoteShort(s[:i+w]), "write a minus sign only before a number, inf or nan"
	case len(rest) > 1 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X'):
		n, hint = scanHex(rest)
	default:
		n, hint = scanDecimal(rest)
	}
	n += i
	if hint == "" && n < len(s) && (s[n] == '.' || letter(s[n]) || digit(s[n])) {
		hint = "write a number without a suffix, such as 1, 0.5, 1e-3 or 0x1p-1"
	}
	if hint == "" {
		return n, "", ""
	}
	for n < len(s) && (s[n] == '.' || letter(s[n]) || digit(s[n])) {
		n++
	}
	n = max(n, min(1, len(s)))
	return n, "malformed number " + quoteShort(s[:n]), hint
}

// scanDecimal measures digits [. digits] [e [sign] digits].
func scanDecimal(s string) (n int, hint string) {
	n = span(s, digit)
	if n == 0 {
		return 0, "a number starts with a digit, such as 0.5"
	}
	if n < len(s) && s[n] == '.' {
		d := span(s[n+1:], digit)
		n += 1 + d
		if d == 0 {
			return n, "a digit follows the point, such as 1.0"
		}
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		return scanExponent(s, n)
	}
	return n, ""
}

// scanHex measures 0x digits [. digits] p [sign] digits.
func scanHex(s string) (n int, hint string) {
	digits := span(s[2:], hexDigit)
	n = 2 + digits
	if n < len(s) && s[n] == '.' {
		d := span(s[n+1:], hexDigit)
		n += 1 + d
		digits += d
	}
	switch {
	case digits == 0:
		return n, "a hexadecimal float has digits, such as 0x1p-1"
	case n < len(s) && (s[n] == 'p' || s[n] == 'P'):
		return scanExponent(s, n)
	default:
		return n, "a hexadecimal float has an exponent, such as " + shorten(s[:n]) +
			"p+0; bit patterns are not supported"
	}
}

// scanExponent measures the exponent whose letter is s[n].
func scanExponent(s string, n int) (int, string) {
	n++
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	d := span(s[n:], digit)
	if d == 0 {
		return n, "digits follow the exponent's letter, such as 1e-3 or 0x1p-1"
	}
	return n + d, ""
}

// span is the length of the run at the start of s that class accepts.
func span(s string, class func(byte) bool) int {
	n := 0
	for n < len(s) && class(s[n]) {
		n++
	}
	return n
}

// validNumber reports whether all of s is one number.
func validNumber(s string) bool {
	n, msg, _ := scanNumber(s)
	return s != "" && msg == "" && n == len(s)
}
