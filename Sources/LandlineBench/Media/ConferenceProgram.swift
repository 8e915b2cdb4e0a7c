/// A C program that plays everybody in conferences: it speaks, listens, and reads what the mixer spends.
enum ConferenceProgram {
  /// `conference cost|quiet|delay|tones TARGETS SPEECH PORT SECONDS SETTLE PID PEOPLE SPEAKERS`: from and to one port of
  /// 127.0.0.1, which is open before TARGETS need be there. That has the mixer's port for each participant, a line each,
  /// room by room, with PEOPLE in each, of whom the first SPEAKERS say the speech, 16 bits at 48 kHz.
  ///
  /// - `cost`: the others send the noise of a quiet place, 50 packets a second as well; `quiet`: one packet in 400 ms, as
  ///   those do that send no silence. Counts the processor time of process PID.
  /// - `delay`: each in turn sends a burst of a tone into silence, and the next one waits for it. What the codec delays the
  ///   burst by before it is sent is taken away again: what is left was added on the way.
  /// - `tones`: two of full scale from the first two of PEOPLE, and what the third hears of them sample by sample, in G.711.
  ///
  /// Each packet of Opus says how loud it is (RFC 6464), as those of browsers do, in a header extension of number 5.
  ///
  /// Lost are packets that did not arrive, and frames that the mixer left out: a pause has a mark at its end, or a packet
  /// in 400 ms.
  static let text = #"""
    #define _GNU_SOURCE
    #include <arpa/inet.h>
    #include <dirent.h>
    #include <math.h>
    #include <opus/opus.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/socket.h>
    #include <time.h>
    #include <unistd.h>

    enum { frames = 1200, most = 1000, frame = 960, period = 30, burst = 5, loud = 3000, step = 40000 };
    typedef struct { int count; uint8_t level, bytes[400]; } Payload;
    static Payload speech[frames], noise[frames], bursts[2 * period];
    static int speechCount, people, speakers, count, isTones, isDelay, isQuiet;
    static int ports[most], owner[65536], counts;
    static struct {
      long heard, lost; int isKnown; uint16_t sequence; uint32_t stamp; OpusDecoder *decoder;
    } seats[most];
    static uint16_t sequences[most];
    static double delays[1000], burstSent, burstStart; static int delayCount, burstCount, burster = -1;
    static double energy; static long samples, decoded, wraps, silent, skipped; static int last, hasLast, peak;

    static double now(void) {
      struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9;
    }

    // Nanoseconds of all threads.
    static double spent(int pid) {
      char path[320], text[64]; snprintf(path, sizeof path, "/proc/%d/task", pid);
      DIR *threads = opendir(path); struct dirent *entry; double sum = 0;
      while (threads && (entry = readdir(threads))) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(text, sizeof text, file)) sum += atof(text);
        if (file) fclose(file);
      }
      if (threads) closedir(threads);
      return sum;
    }

    static int muLaw(int s) {
      int sign = s < 0 ? 0x80 : 0; if (s < 0) s = -s; if (s > 32635) s = 32635; s += 132;
      int e = 7; for (int m = 0x4000; e > 0 && !(s & m); e--, m >>= 1) ;
      return ~(sign | e << 4 | (s >> (e + 3) & 15)) & 0xFF;
    }
    static int fromMuLaw(int u) {
      u = ~u; int s = ((u & 15) << 3) + 132; s = (s << (u >> 4 & 7)) - 132; return u & 0x80 ? -s : s;
    }

    static OpusEncoder *encoder(void) {
      int error; OpusEncoder *made = opus_encoder_create(48000, 1, OPUS_APPLICATION_VOIP, &error);
      opus_encoder_ctl(made, OPUS_SET_BITRATE(32000)); opus_encoder_ctl(made, OPUS_SET_COMPLEXITY(9));
      return made;
    }
    static void encode(OpusEncoder *encoder, const int16_t *sound, Payload *payload) {
      double sum = 0; for (int i = 0; i < frame; i++) sum += (double)sound[i] * sound[i];
      double level = sum > 0 ? -10 * log10(sum / frame / 1073741824.0) : 127;
      payload->level = level > 127 ? 127 : lrint(level);
      payload->count = opus_encode(encoder, sound, frame, payload->bytes, sizeof payload->bytes);
    }
    // -66 dBov.
    static void fillNoise(int16_t *sound) {
      static uint32_t state = 1;
      for (int i = 0; i < frame; i++) { state = state * 1664525 + 1013904223; sound[i] = (int)(state >> 16) % 57 - 28; }
    }

    static void prepare(const char *name) {
      int16_t sound[frame]; FILE *file = fopen(name, "r"); if (!file) { perror(name); exit(1); }
      OpusEncoder *voice = encoder(), *hiss = encoder(), *tone = encoder();
      while (speechCount < frames && fread(sound, 2, frame, file) == frame)
        encode(voice, sound, &speech[speechCount++]);
      fclose(file); if (speechCount == 0) exit(1);
      for (int i = 0; i < frames; i++) { fillNoise(sound); encode(hiss, sound, &noise[i]); }
      // Twice, so that the second one begins behind its own end; where it is heard tells the codec's part.
      int error; OpusDecoder *decoder = opus_decoder_create(48000, 1, &error);
      for (int i = 0; i < 2 * period; i++) {
        fillNoise(sound);
        if (i % period < burst) for (int j = 0; j < frame; j++) sound[j] += 10000 * sin(2 * M_PI * j / 48);
        encode(tone, sound, &bursts[i]);
        opus_decode(decoder, bursts[i].bytes, bursts[i].count, sound, frame, 0);
        for (int j = 0; i >= period && burstStart == 0 && j < frame; j++)
          if (abs(sound[j]) > loud) burstStart = ((i - period) * frame + j) / 48000.0;
      }
    }

    static void hearOpus(int seat, const uint8_t *payload, int size, double at) {
      int16_t sound[5760]; int n = opus_decode(seats[seat].decoder, payload, size, sound, 5760, 0);
      if (!isDelay) {
        for (int i = 0; i < n; i++) energy += (double)sound[i] * sound[i];
        if (n > 0) samples += n;
        return;
      }
      if (burster < 0 || seat != (burster + 1) % people) return;
      for (int i = 0; i < n; i++) if (abs(sound[i]) > loud) {
        if (delayCount < 1000) delays[delayCount++] = (at + i / 48000.0 - burstSent - burstStart) * 1000;
        burster = -1; return;
      }
    }
    static void hearTones(const uint8_t *payload, int size, int isNext) {
      int high = 0; if (!isNext) hasLast = 0;
      for (int i = 0; i < size; i++) {
        int s = fromMuLaw(payload[i]); if (abs(s) > high) high = abs(s);
        if (hasLast && abs(s - last) > step) wraps++;
        last = s; hasLast = 1;
      }
      decoded++; if (high < 1000) silent++; if (high > peak) peak = high;
    }

    static void hear(const uint8_t *b, int size, int port, double at) {
      int seat = owner[port] - 1, type = b[1] & 127; if (seat < 0 || size < 13 || (type >= 64 && type < 96)) return;
      uint16_t sequence = b[2] << 8 | b[3]; uint32_t stamp = (uint32_t)b[4] << 24 | b[5] << 16 | b[6] << 8 | b[7];
      int isFirst = !seats[seat].isKnown; int16_t jump = sequence - seats[seat].sequence;
      if (!isFirst && jump <= 0) return;
      uint32_t ticks = stamp - seats[seat].stamp,
        unit = isTones ? 160 : frame;
      int isPause = b[1] & 128 || ticks == 20 * unit;
      seats[seat].isKnown = 1; seats[seat].sequence = sequence; seats[seat].stamp = stamp;
      if (counts) {
        seats[seat].heard++;
        if (!isFirst && jump > 1) seats[seat].lost += jump - 1;
        else if (!isFirst && !isPause && ticks > unit) seats[seat].lost += ticks / unit - 1;
      }
      if (isTones) {
        if (seat != 2 || !counts) return;
        if (!isFirst && ticks != 160) skipped += ticks / 160 > 1 ? ticks / 160 - 1 : 1;
        hearTones(b + 12, size - 12, !isFirst && ticks == 160);
      } else if (isDelay || (counts && seat == people - 1)) hearOpus(seat, b + 12, size - 12, at);
    }

    // NULL: nothing is sent.
    static const Payload *says(int seat, long n) {
      if (isDelay) {
        if (burster == seat && n % period < burst) return &bursts[period + n % period];
        return &bursts[period + burst + n % (period - burst)];
      }
      if (seat % people < speakers) return &speech[(n + seat * 331) % speechCount];
      return isQuiet && n % 20 ? NULL : &noise[(n + seat * 37) % frames];
    }
    static void speak(int socket, int seat, long n, struct sockaddr_in *to) {
      uint8_t b[512] = {0x80, isTones ? 0 : 111}; int size = 12; const Payload *payload = NULL;
      if (isTones) {
        for (int i = 0; i < 160; i++) {
          double phase = 2 * M_PI * (n * 160 + i) / 8000;
          b[size++] = seat > 1 ? 0xFF : muLaw(32767 * sin(phase * (seat == 0 ? 440 : 1000)));
        }
      } else {
        // Bursts go round: every one comes at another time of the mixer's frame.
        if (isDelay && counts && n % period == 0 && seat == n / period % people) {
          burster = seat; burstCount++; burstSent = now();
        }
        if (!(payload = says(seat, n))) return;
        uint8_t extension[8] = {0xBE, 0xDE, 0, 1, 0x50, payload->level};
        b[0] |= 0x10; memcpy(b + size, extension, sizeof extension); size += sizeof extension;
        memcpy(b + size, payload->bytes, payload->count); size += payload->count;
      }
      uint16_t sequence = htons(sequences[seat]++);
      uint32_t stamp = htonl(n * (isTones ? 160 : 960)), source = htonl(0x1000 + seat);
      memcpy(b + 2, &sequence, 2); memcpy(b + 4, &stamp, 4); memcpy(b + 8, &source, 4);
      to->sin_port = htons(ports[seat]); sendto(socket, b, size, 0, (void *)to, sizeof *to);
    }

    static int ascending(const void *a, const void *b) {
      double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y);
    }

    int main(int c, char **v) {
      if (c < 10) return 2;
      isTones = !strcmp(v[1], "tones"); isDelay = !strcmp(v[1], "delay"); isQuiet = !strcmp(v[1], "quiet");
      double seconds = atof(v[5]), settle = atof(v[6]); int pid = atoi(v[7]), error;
      people = atoi(v[8]); speakers = atoi(v[9]);
      int socket_ = socket(AF_INET, SOCK_DGRAM, 0), room = 8 << 20;
      struct sockaddr_in own = {AF_INET, htons(atoi(v[4])), {htonl(INADDR_LOOPBACK)}}, to = own;
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
      if (bind(socket_, (void *)&own, sizeof own)) { perror("bind"); return 1; }
      prepare(v[3]);
      while (access(v[2], R_OK)) usleep(10000);
      FILE *file = fopen(v[2], "r"); if (!file) { perror(v[2]); return 1; }
      while (count < most && fscanf(file, "%d", &ports[count]) == 1) { owner[ports[count] & 0xFFFF] = count + 1; count++; }
      fclose(file); if (count == 0 || people < 1) return 2;
      for (int i = 0; i < count; i++)
        if (isDelay || i == people - 1) seats[i].decoder = opus_decoder_create(48000, 1, &error);
      struct mmsghdr messages[64]; static uint8_t bytes[64][2048]; struct iovec parts[64]; struct sockaddr_in from[64];
      for (int i = 0; i < 64; i++) {
        parts[i] = (struct iovec){bytes[i], sizeof bytes[i]}; memset(&messages[i], 0, sizeof messages[i]);
        messages[i].msg_hdr.msg_iov = &parts[i]; messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_name = &from[i];
      }
      double began = now() + .02, counted = began + settle, ends = counted + seconds, before = 0, start = 0;
      long late = 0;
      for (long n = 0;; n++) {
        double wait = began + n / 1000.0 - now();
        if (wait > 0) { struct timespec t = {0, wait * 1e9}; nanosleep(&t, 0); } else if (wait < -.005) late++;
        double at = now(); if (at >= ends) break;
        if (!counts && at >= counted) { counts = 1; start = at; before = spent(pid); }
        for (int seat = n % 20; seat < count; seat += 20) speak(socket_, seat, n / 20, &to);
        for (;;) {
          for (int i = 0; i < 64; i++) messages[i].msg_hdr.msg_namelen = sizeof from[i];
          int k = recvmmsg(socket_, messages, 64, MSG_DONTWAIT, 0); if (k <= 0) break;
          at = now();
          for (int i = 0; i < k; i++) hear(bytes[i], messages[i].msg_len, ntohs(from[i].sin_port), at);
          if (k < 64) break;
        }
      }
      double lasted = now() - start, cost = spent(pid) - before; long heard = 0, lost = 0;
      for (int i = 0; i < count; i++) { heard += seats[i].heard; lost += seats[i].lost; }
      printf("participants %d | CPU/participant-s %.1f us | heard %ld lost %ld each %.2f/s | late %ld",
        count, cost / 1e3 / lasted / count, heard, lost, heard / lasted / count, late);
      if (samples) printf(" | level %.1f dBov", 10 * log10(energy / samples / 1073741824.0 + 1e-12));
      if (isTones) printf(" | packets %ld wraps %ld silent %ld missing %ld", decoded, wraps, silent, skipped);
      if (isTones) printf(" peak %d", peak);
      qsort(delays, delayCount, sizeof *delays, ascending);
      if (isDelay) printf(" | bursts %d of %d", delayCount, burstCount);
      if (delayCount) printf(" delay median %.2f lowest %.2f", delays[delayCount / 2], delays[0]);
      if (delayCount) printf(" highest %.2f ms", delays[delayCount - 1]);
      puts(""); return 0;
    }
    """#
}
