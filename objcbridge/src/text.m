#import "internal.h"
#include <stdlib.h>
#include <string.h>

// Returns the length of the character that starts at s, or 0 if it is not well-formed
// (Unicode 15, table 3-7) or continues beyond left bytes.
static size_t character(const unsigned char *s, size_t left) {
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

bool aneb_utf8_valid(const char *text) {
    size_t left = strlen(text), n = 1;
    for (const unsigned char *s = (const unsigned char *)text; left > 0 && n > 0; s += n, left -= n) n = character(s, left);
    return n > 0;
}

void aneb_text_copy(char *out, size_t capacity, const char *bytes, size_t size) {
    const unsigned char *s = (const unsigned char *)bytes;
    size_t used = 0;
    while (size > 0) {
        size_t n = character(s, size), step = n == 0 ? 1 : n;
        if (used + step >= capacity) break;
        memcpy(out + used, s, step);
        if (n == 0) out[used] = '?';
        if (s[0] == 0) out[used] = ' ';
        used += step;
        s += step;
        size -= step;
    }
    if (capacity > 0) out[used] = 0;
}

// Lossy, because a string may contain half a character, for which UTF8String returns NULL
// or raises.
char *aneb_text_new(id string) {
    if (![string isKindOfClass:[NSString class]]) return NULL;
    NSData *data = [string dataUsingEncoding:NSUTF8StringEncoding allowLossyConversion:YES];
    size_t size = data == nil ? 0 : [data length];
    char *text = calloc(size + 1, 1);
    if (text != NULL && size > 0) aneb_text_copy(text, size + 1, [data bytes], size);
    return text;
}

void aneb_text_from(char *out, size_t capacity, id string) {
    char *text = aneb_text_new(string);
    aneb_text_copy(out, capacity, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
    free(text);
}
