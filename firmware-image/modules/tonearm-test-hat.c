// SPDX-License-Identifier: GPL-2.0-only
/*
 * A HAT and its connections, for tests in an emulator (Tests/VirtualBoard/image_hats.py): an I2C bus with the registers
 * of a WM8804 (0x3b) and a PCM512x (0x4d), a GPIO chip, and an I2S controller that plays to nowhere. The chips whose
 * addresses are in `byte-chips` or `word-chips` take writes, and have nothing to read. The kernel's log has all that
 * happens to them, in lines that begin with "hat: ".
 *
 * Copyright: Tonearm maintainers
 */
#include <linux/gpio/driver.h>
#include <linux/i2c.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/timer.h>
#include <sound/pcm_params.h>
#include <sound/soc.h>

#define say(format, ...) pr_info("hat: " format "\n", ##__VA_ARGS__)

/* I2C */

#define WM8804 0x3b
#define PCM512X 0x4d
#define PLAIN_CHIPS 2

struct test_bus {
	struct i2c_adapter adapter;
	/* What is on the HAT, from the device tree. */
	bool has_oscillators, has_fixed_clock, is_silent;
	u8 wm8804[0x80];
	u8 pcm512x[2][0x80];
	u8 page;
	u32 plain[PLAIN_CHIPS];
	/* A message is one register, of one byte or more; else the registers are bytes that follow each other. */
	bool plain_words;
	/* Where a read goes on. */
	u8 at;
};

/* A clock at SCK: of the oscillator whose line alone is high, or one that no line switches. */
static bool pcm512x_has_clock(const struct test_bus *bus)
{
	const u8 *regs = bus->pcm512x[0];
	u8 lines = 0;

	if (bus->has_fixed_clock)
		return true;
	if (regs[82] == 2)
		lines |= regs[8] & regs[86] & BIT(2);
	if (regs[85] == 2)
		lines |= regs[8] & regs[86] & BIT(5);
	return bus->has_oscillators && (lines == BIT(2) || lines == BIT(5));
}

static void reset_pcm512x(struct test_bus *bus)
{
	memset(bus->pcm512x, 0, sizeof(bus->pcm512x));
	/* The PLL is on. */
	bus->pcm512x[0][4] = 0x01;
}

static u8 read_register(const struct test_bus *bus, u8 address, u8 reg)
{
	if (address == WM8804)
		return reg == 0 ? 0x05 : reg == 1 ? 0x88 : reg == 2 ? 0x01 : bus->wm8804[reg];
	if (reg == 0)
		return bus->page;
	/* RATE_DET_4, ANALOG_MUTE_DET */
	if (bus->page == 0 && reg == 94)
		return pcm512x_has_clock(bus) ? 0 : BIT(6);
	if (bus->page == 0 && reg == 108)
		return bus->pcm512x[0][3] ? 0 : 3;
	return bus->pcm512x[bus->page & 1][reg];
}

static void write_register(struct test_bus *bus, u8 address, u8 reg, u8 value)
{
	if (address == WM8804) {
		say("i2c 3b 0 %02x=%02x", reg, value);
		bus->wm8804[reg] = value;
	} else if (reg == 0) {
		bus->page = value;
	} else {
		say("i2c 4d %x %02x=%02x", bus->page, reg, value);
		bus->pcm512x[bus->page & 1][reg] = value;
		if (bus->page == 0 && reg == 1 && value)
			reset_pcm512x(bus);
	}
}

static bool is_plain(const struct test_bus *bus, u16 address)
{
	return address == bus->plain[0] || address == bus->plain[1];
}

static void transfer_plain(const struct test_bus *bus, struct i2c_msg *it)
{
	int byte;

	if (it->flags & I2C_M_RD)
		memset(it->buf, 0, it->len);
	else if (bus->plain_words && it->len > 1)
		say("i2c %02x 0 %02x=%*phN", it->addr, it->buf[0], it->len - 1, it->buf + 1);
	else
		for (byte = 1; byte < it->len; byte++)
			say("i2c %02x 0 %02x=%02x", it->addr, it->buf[0] + byte - 1, it->buf[byte]);
}

static int test_transfer(struct i2c_adapter *adapter, struct i2c_msg *messages, int count)
{
	struct test_bus *bus = i2c_get_adapdata(adapter);
	int i, byte;

	for (i = 0; i < count; i++) {
		struct i2c_msg *it = &messages[i];

		if (is_plain(bus, it->addr)) {
			transfer_plain(bus, it);
			continue;
		}
		if (bus->is_silent || (it->addr != WM8804 && it->addr != PCM512X))
			return -ENXIO;
		for (byte = 0; byte < it->len; byte++) {
			if (it->flags & I2C_M_RD)
				it->buf[byte] = read_register(bus, it->addr, bus->at++ & 0x7f);
			else if (byte == 0)
				/* The highest bit only says that the address counts up. */
				bus->at = it->buf[0] & 0x7f;
			else
				write_register(bus, it->addr, bus->at++ & 0x7f, it->buf[byte]);
		}
	}
	return count;
}

static u32 test_functionality(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | I2C_FUNC_SMBUS_EMUL;
}

static const struct i2c_algorithm test_algorithm = {
	.xfer = test_transfer,
	.functionality = test_functionality,
};

/* Whether the overlay of a HAT is in the device tree. */
static bool has_card(void)
{
	struct device_node *card = of_find_node_by_path("/sound-dac");

	of_node_put(card);
	return card;
}

static int test_bus_probe(struct platform_device *pdev)
{
	struct test_bus *bus = devm_kzalloc(&pdev->dev, sizeof(*bus), GFP_KERNEL);

	if (!bus)
		return -ENOMEM;
	bus->has_oscillators = of_property_read_bool(pdev->dev.of_node, "has-oscillators");
	bus->has_fixed_clock = of_property_read_bool(pdev->dev.of_node, "has-fixed-clock");
	/* Nothing answers; or only without an overlay. */
	bus->is_silent = of_property_read_bool(pdev->dev.of_node, "is-silent") ||
		(of_property_read_bool(pdev->dev.of_node, "is-silent-with-overlay") && has_card());
	bus->plain_words = of_property_present(pdev->dev.of_node, "word-chips");
	of_property_read_variable_u32_array(pdev->dev.of_node, bus->plain_words ? "word-chips" : "byte-chips", bus->plain,
					    1, PLAIN_CHIPS);
	bus->adapter.owner = THIS_MODULE;
	bus->adapter.algo = &test_algorithm;
	bus->adapter.dev.parent = &pdev->dev;
	bus->adapter.dev.of_node = pdev->dev.of_node;
	strscpy(bus->adapter.name, "HAT", sizeof(bus->adapter.name));
	i2c_set_adapdata(&bus->adapter, bus);
	return devm_i2c_add_adapter(&pdev->dev, &bus->adapter);
}

/* GPIO */

#define LINES 54

struct test_lines {
	struct gpio_chip chip;
	bool level[LINES];
	bool output[LINES];
};

static int line_get(struct gpio_chip *chip, unsigned int line)
{
	struct test_lines *it = gpiochip_get_data(chip);

	return it->level[line];
}

static void line_set(struct gpio_chip *chip, unsigned int line, int value)
{
	struct test_lines *it = gpiochip_get_data(chip);

	it->level[line] = value;
	say("line %u=%d", line, value);
}

static int line_output(struct gpio_chip *chip, unsigned int line, int value)
{
	struct test_lines *it = gpiochip_get_data(chip);

	it->output[line] = true;
	line_set(chip, line, value);
	return 0;
}

static int line_direction(struct gpio_chip *chip, unsigned int line)
{
	struct test_lines *it = gpiochip_get_data(chip);

	return it->output[line] ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int test_lines_probe(struct platform_device *pdev)
{
	struct test_lines *it = devm_kzalloc(&pdev->dev, sizeof(*it), GFP_KERNEL);

	if (!it)
		return -ENOMEM;
	it->chip.label = "pinctrl-bcm2835";
	it->chip.parent = &pdev->dev;
	it->chip.owner = THIS_MODULE;
	it->chip.base = -1;
	it->chip.ngpio = LINES;
	it->chip.get = line_get;
	it->chip.set = line_set;
	it->chip.direction_output = line_output;
	it->chip.get_direction = line_direction;
	return devm_gpiochip_add_data(&pdev->dev, &it->chip, it);
}

/* I2S */

/* One stream, whose position is that of the clock. */
static struct {
	struct snd_pcm_substream *substream;
	struct timer_list timer;
	ktime_t start;
} stream;

static const struct snd_pcm_hardware hardware = {
	.info = SNDRV_PCM_INFO_INTERLEAVED | SNDRV_PCM_INFO_MMAP | SNDRV_PCM_INFO_MMAP_VALID,
	.period_bytes_min = 1024,
	.period_bytes_max = 65536,
	.periods_min = 2,
	.periods_max = 64,
	.buffer_bytes_max = 131072,
};

static int i2s_set_fmt(struct snd_soc_dai *dai, unsigned int format)
{
	bool consumes = (format & SND_SOC_DAIFMT_CLOCK_PROVIDER_MASK) == SND_SOC_DAIFMT_BC_FC;

	say("cpu %s, format %x", consumes ? "consumes" : "provides", format & SND_SOC_DAIFMT_FORMAT_MASK);
	return 0;
}

static int i2s_set_bclk_ratio(struct snd_soc_dai *dai, unsigned int ratio)
{
	say("cpu ratio %u", ratio);
	return 0;
}

static const struct snd_soc_dai_ops i2s_dai_ops = {
	.set_fmt = i2s_set_fmt,
	.set_bclk_ratio = i2s_set_bclk_ratio,
};

static struct snd_soc_dai_driver i2s_dai = {
	.name = "test-i2s",
	.playback = {
		.channels_min = 2,
		.channels_max = 2,
		.rates = SNDRV_PCM_RATE_CONTINUOUS,
		.rate_min = 8000,
		.rate_max = 384000,
		.formats = SNDRV_PCM_FMTBIT_S16_LE | SNDRV_PCM_FMTBIT_S24_LE | SNDRV_PCM_FMTBIT_S32_LE,
	},
	.ops = &i2s_dai_ops,
};

static void stream_tick(struct timer_list *timer)
{
	struct snd_pcm_substream *substream = READ_ONCE(stream.substream);

	if (!substream)
		return;
	mod_timer(&stream.timer, jiffies + msecs_to_jiffies(5));
	snd_pcm_period_elapsed(substream);
}

static int i2s_open(struct snd_soc_component *component, struct snd_pcm_substream *substream)
{
	snd_soc_set_runtime_hwparams(substream, &hardware);
	return 0;
}

static int i2s_close(struct snd_soc_component *component, struct snd_pcm_substream *substream)
{
	timer_delete_sync(&stream.timer);
	return 0;
}

static int i2s_construct(struct snd_soc_component *component, struct snd_soc_pcm_runtime *rtd)
{
	snd_pcm_set_managed_buffer_all(rtd->pcm, SNDRV_DMA_TYPE_VMALLOC, NULL, 131072, 131072);
	return 0;
}

static int i2s_trigger(struct snd_soc_component *component, struct snd_pcm_substream *substream, int command)
{
	if (command == SNDRV_PCM_TRIGGER_START) {
		say("cpu starts at %u", substream->runtime->rate);
		stream.start = ktime_get();
		WRITE_ONCE(stream.substream, substream);
		mod_timer(&stream.timer, jiffies + 1);
	} else if (command == SNDRV_PCM_TRIGGER_STOP) {
		say("cpu stops");
		WRITE_ONCE(stream.substream, NULL);
	}
	return 0;
}

static snd_pcm_uframes_t i2s_pointer(struct snd_soc_component *component, struct snd_pcm_substream *substream)
{
	u64 frames = ktime_us_delta(ktime_get(), stream.start) * substream->runtime->rate;

	do_div(frames, 1000000);
	return do_div(frames, substream->runtime->buffer_size);
}

static const struct snd_soc_component_driver i2s_component = {
	.name = "test-i2s",
	.open = i2s_open,
	.close = i2s_close,
	.trigger = i2s_trigger,
	.pointer = i2s_pointer,
	.pcm_construct = i2s_construct,
};

static int test_i2s_probe(struct platform_device *pdev)
{
	timer_setup(&stream.timer, stream_tick, 0);
	return devm_snd_soc_register_component(&pdev->dev, &i2s_component, &i2s_dai, 1);
}

static const struct of_device_id bus_match[] = { { .compatible = "tonearm,test-i2c" }, { } };
static const struct of_device_id lines_match[] = { { .compatible = "tonearm,test-gpio" }, { } };
static const struct of_device_id i2s_match[] = { { .compatible = "tonearm,test-i2s" }, { } };

static struct platform_driver bus_driver = {
	.driver = { .name = "tonearm-test-i2c", .of_match_table = bus_match },
	.probe = test_bus_probe,
};

static struct platform_driver lines_driver = {
	.driver = { .name = "tonearm-test-gpio", .of_match_table = lines_match },
	.probe = test_lines_probe,
};

static struct platform_driver i2s_driver = {
	.driver = { .name = "tonearm-test-i2s", .of_match_table = i2s_match },
	.probe = test_i2s_probe,
};

/* The lines come first, as on a Raspberry Pi: an overlay may hold some for a chip. */
static struct platform_driver *const drivers[] = { &lines_driver, &bus_driver, &i2s_driver };

static int __init test_hat_init(void)
{
	return platform_register_drivers(drivers, ARRAY_SIZE(drivers));
}
module_init(test_hat_init);

MODULE_DESCRIPTION("A HAT and its connections, for tests");
MODULE_AUTHOR("Tonearm maintainers");
MODULE_LICENSE("GPL");
