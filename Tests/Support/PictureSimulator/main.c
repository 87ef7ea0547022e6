// Speaks the protocol of tonearm-pictures, for the tests of the daemon's side. The byte after the first three of a
// picture says what happens:
//
//   0    makes a "JPEG" of SIDE × SIDE / 2 pixels
//   1-5  answers with that outcome
//   'E'  ends without an answer
//   'H'  never answers
//   'G'  waits until somebody opens the pipe `gate` beside the program for writing, then as 0
//   'B'  answers that it has made a thumbnail, whose bytes are none
//   'S'  sends a packet that is too short
//
// It adds a line to the file `requests` beside itself for each: its process, the side, the offset, the length, and the
// descriptors that it has.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[4096];

static const char *beside(const char *name) {
    static char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int receive(unsigned char *bytes, int files[2]) {
    struct iovec packet = {.iov_base = bytes, .iov_len = 24};
    char control[CMSG_SPACE(2 * sizeof(int))];
    struct msghdr message = {
        .msg_iov = &packet, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(0, &message, 0) != 24) return 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_len != CMSG_LEN(2 * sizeof(int))) return 0;
    memcpy(files, CMSG_DATA(header), 2 * sizeof(int));
    return 1;
}

static void note(uint32_t side, uint64_t offset, uint64_t length) {
    FILE *file = fopen(beside("requests"), "a");
    if (file == NULL) exit(3);
    fprintf(file, "%d %u %llu %llu", (int)getpid(), side, (unsigned long long)offset, (unsigned long long)length);
    for (int number = 0; number < 64; number++) {
        if (number != fileno(file) && fcntl(number, F_GETFD) >= 0) fprintf(file, " %d", number);
    }
    fprintf(file, "\n");
    fclose(file);
}

static void answer(uint32_t outcome, uint16_t width, uint16_t height, uint32_t length) {
    unsigned char bytes[16];
    uint32_t version = 1;
    memcpy(bytes, &version, 4);
    memcpy(bytes + 4, &outcome, 4);
    memcpy(bytes + 8, &width, 2);
    memcpy(bytes + 10, &height, 2);
    memcpy(bytes + 12, &length, 4);
    send(0, bytes, sizeof bytes, MSG_NOSIGNAL);
}

int main(int count, char **arguments) {
    extern char **environ;
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (count != 1 || strcmp(arguments[0], "tonearm-pictures") != 0 || environ[0] != NULL || length < 0) return 2;
    *strrchr(folder, '/') = 0;
    unsigned char request[24];
    int files[2];
    while (receive(request, files)) {
        uint32_t side;
        uint64_t offset, bytes;
        memcpy(&side, request + 4, 4);
        memcpy(&offset, request + 8, 8);
        memcpy(&bytes, request + 16, 8);
        note(side, offset, bytes);
        unsigned char head[4] = {0};
        if (pread(files[0], head, 4, (off_t)offset) != 4) head[3] = 4;
        switch (head[3]) {
        case 'E': raise(9); break;
        case 'H': for (;;) pause();
        case 'S': send(0, "short", 5, MSG_NOSIGNAL); break;
        case 'B': answer(0, 5, 5, 100); break;
        case 1: case 2: case 3: case 4: case 5: answer(head[3], 0, 0, 0); break;
        case 'G': close(open(beside("gate"), O_RDONLY)); // fall through
        default: {
            unsigned char made[200];
            memset(made, (int)side, sizeof made);
            made[0] = 0xFF, made[1] = 0xD8, made[198] = 0xFF, made[199] = 0xD9;
            if (write(files[1], made, sizeof made) != sizeof made) return 4;
            answer(0, (uint16_t)side, (uint16_t)(side / 2), sizeof made);
        }
        }
        close(files[0]);
        close(files[1]);
    }
    return 0;
}
