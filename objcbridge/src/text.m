#import "internal.h"
#include <stdlib.h>
#include <string.h>

// Length of the character that starts at s, 0 when it is not well-formed (Unicode 15,
// table 3-7). A zero byte ends every check, so nothing past the string is read.
static size_t character(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

bool aneb_utf8_valid(const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s != 0;) {
        size_t n = character(s);
        if (n == 0) return false;
        s += n;
    }
    return true;
}

void aneb_text_copy(char *out, size_t capacity, const char *bytes, size_t size) {
    if (capacity == 0) return;
    size_t n = size < capacity ? size : capacity - 1;
    if (n < size)
        while (n > 0 && ((unsigned char)bytes[n] & 0xC0) == 0x80) n--;
    for (size_t i = 0; i < n; i++) out[i] = bytes[i] == 0 ? ' ' : bytes[i];
    out[n] = 0;
}

// Lossy where UTF-16 has half a character: UTF8String gives NULL or raises there.
static NSData *encoded(id string) {
    if (![string isKindOfClass:[NSString class]]) return nil;
    return [string dataUsingEncoding:NSUTF8StringEncoding allowLossyConversion:YES];
}

void aneb_text_from(char *out, size_t capacity, id string) {
    NSData *data = encoded(string);
    const char *bytes = [data bytes];
    aneb_text_copy(out, capacity, bytes == NULL ? "" : bytes, [data length]);
}

char *aneb_text_new(id string) {
    NSData *data = encoded(string);
    if (data == nil) return NULL;
    size_t capacity = [data length] + 1;
    char *text = malloc(capacity);
    const char *bytes = [data bytes];
    if (text != NULL) aneb_text_copy(text, capacity, bytes == NULL ? "" : bytes, [data length]);
    return text;
}
