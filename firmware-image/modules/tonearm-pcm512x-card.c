// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sound card of a HAT with a PCM512x and what simple-audio-card does not know there:
 * - two oscillators, one for each family of rates. The codec's GPIO 6 switches the one for 44.1 kHz on, GPIO 3 that for
 *   48 kHz, and the codec gives the clocks. Without the oscillators it takes those of the I2S controller, as with
 *   simple-audio-card.
 * - an amplifier that one of the codec's GPIOs unmutes.
 *
 * Device tree:
 *   compatible "tonearm,pcm512x-oscillators": #clock-cells 0, tonearm,codec, frequencies (for 44.1 and for 48 kHz)
 *   compatible "tonearm,pcm512x-card": model, tonearm,i2s, tonearm,codec; optional clocks, and high-while-open, the
 *   number of the codec's GPIO that is high while a stream is open, and low otherwise
 * The codec's `clocks` and those of the card are the oscillators.
 *
 * Copyright: Tonearm maintainers
 */
#include <linux/clk.h>
#include <linux/clk-provider.h>
#include <linux/delay.h>
#include <linux/i2c.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <sound/pcm_params.h>

#include "pcm512x.h"
#include "tonearm-card.h"

/* GPIO_EN and GPIO_CONTROL_1. */
#define LINE_44K BIT(5)
#define LINE_48K BIT(2)
#define LINES (LINE_44K | LINE_48K)
/* RATE_DET_4: no clock at SCK. */
#define NO_SCK BIT(6)
/* Microseconds until the clock of an oscillator is stable: 10 ms in data sheets. */
#define OSCILLATOR_START 10000

/* The oscillators, as a clock with two rates */

struct oscillators {
	struct clk_hw hw;
	u32 frequencies[2];
	unsigned long rate;
	bool found;
};

#define to_oscillators(it) container_of(it, struct oscillators, hw)

static unsigned long oscillators_recalc_rate(struct clk_hw *hw, unsigned long parent)
{
	return to_oscillators(hw)->rate;
}

/* The oscillator of a sample rate's family. */
static long oscillators_round_rate(struct clk_hw *hw, unsigned long rate, unsigned long *parent)
{
	struct oscillators *it = to_oscillators(hw);

	return it->frequencies[0] % rate ? it->frequencies[1] : it->frequencies[0];
}

/* The lines are the codec's, whose registers its driver caches: the card switches them. */
static int oscillators_set_rate(struct clk_hw *hw, unsigned long rate, unsigned long parent)
{
	to_oscillators(hw)->rate = rate;
	return 0;
}

static const struct clk_ops oscillators_ops = {
	.recalc_rate = oscillators_recalc_rate,
	.round_rate = oscillators_round_rate,
	.set_rate = oscillators_set_rate,
};

/* Without oscillators, the codec's driver has to see that there is no clock. */
static struct clk_hw *oscillators_get(struct of_phandle_args *clkspec, void *data)
{
	struct oscillators *it = data;

	return it->found ? &it->hw : ERR_PTR(-ENOENT);
}

struct codec_bus {
	struct i2c_adapter *adapter;
	u16 address;
	int error;
};

static int codec_transfer(struct codec_bus *bus, char direction, u8 reg, u8 value)
{
	union i2c_smbus_data data = { .byte = value };

	if (!bus->error)
		bus->error = i2c_smbus_xfer(bus->adapter, bus->address, 0, direction, reg, I2C_SMBUS_BYTE_DATA, &data);
	return data.byte;
}

static void codec_write(struct codec_bus *bus, unsigned int reg, u8 value)
{
	codec_transfer(bus, I2C_SMBUS_WRITE, reg - PCM512x_PAGE_BASE(0), value);
}

/* Whether the codec gets a clock with exactly these lines high. */
static bool sees_clock(struct codec_bus *bus, u8 lines)
{
	codec_write(bus, PCM512x_GPIO_CONTROL_1, lines);
	usleep_range(OSCILLATOR_START, OSCILLATOR_START + 1000);
	return !(codec_transfer(bus, I2C_SMBUS_READ, PCM512x_RATE_DET_4 - PCM512x_PAGE_BASE(0), 0) & NO_SCK);
}

/*
 * Both oscillators are there, and can be switched: a clock that is always there is not theirs. This is before the
 * codec's driver, which resets the codec when it comes.
 */
static bool find_oscillators(struct codec_bus *bus)
{
	bool with_44k, with_48k, with_none;

	codec_transfer(bus, I2C_SMBUS_WRITE, PCM512x_PAGE, 0);
	codec_write(bus, PCM512x_RESET, PCM512x_RSTM | PCM512x_RSTR);
	codec_write(bus, PCM512x_RESET, 0);
	codec_write(bus, PCM512x_GPIO_OUTPUT_3, PCM512x_GxSL_REG);
	codec_write(bus, PCM512x_GPIO_OUTPUT_6, PCM512x_GxSL_REG);
	codec_write(bus, PCM512x_GPIO_EN, LINES);
	with_44k = sees_clock(bus, LINE_44K);
	with_none = sees_clock(bus, 0);
	with_48k = sees_clock(bus, LINE_48K);
	codec_write(bus, PCM512x_GPIO_CONTROL_1, 0);
	return !bus->error && with_44k && with_48k && !with_none;
}

static int look_for_oscillators(struct device *dev, struct oscillators *it)
{
	struct device_node *codec = tonearm_get_node(dev, "tonearm,codec", 0);
	struct codec_bus bus = {};
	u32 address;

	if (IS_ERR(codec))
		return PTR_ERR(codec);
	if (of_property_read_u32(codec, "reg", &address))
		return dev_err_probe(dev, -EINVAL, "the codec has no reg\n");
	bus.address = address;
	bus.adapter = of_get_i2c_adapter_by_node(codec->parent);
	if (!bus.adapter)
		return dev_err_probe(dev, -EPROBE_DEFER, "the codec's I2C bus is not there yet\n");
	it->found = find_oscillators(&bus);
	i2c_put_adapter(bus.adapter);
	if (bus.error)
		dev_warn(dev, "The codec does not answer: %d\n", bus.error);
	else
		dev_info(dev, it->found ? "The HAT has oscillators\n" : "The HAT has no oscillators\n");
	return 0;
}

static int oscillators_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct clk_init_data init = { .name = "pcm512x-oscillators", .ops = &oscillators_ops };
	struct oscillators *it;
	int ret;

	it = devm_kzalloc(dev, sizeof(*it), GFP_KERNEL);
	if (!it)
		return -ENOMEM;
	ret = of_property_read_u32_array(dev->of_node, "frequencies", it->frequencies, ARRAY_SIZE(it->frequencies));
	if (ret)
		return dev_err_probe(dev, ret, "frequencies cannot be read\n");
	it->rate = it->frequencies[1];
	ret = look_for_oscillators(dev, it);
	if (ret)
		return ret;
	it->hw.init = &init;
	ret = devm_clk_hw_register(dev, &it->hw);
	if (ret)
		return ret;
	return devm_of_clk_add_hw_provider(dev, oscillators_get, it);
}

/* The card */

struct pcm512x_card {
	struct tonearm_card base;
	/* NULL: the I2S controller gives the clocks. */
	struct clk *oscillators;
	/* The codec's GPIO that is high while a stream is open, from 1 on; 0: none. */
	u32 open_line;
};

/* The dividers give these exactly. */
static const unsigned int rates[] = {
	8000, 11025, 16000, 22050, 32000, 44100, 48000, 64000, 88200, 96000, 176400, 192000, 352800, 384000,
};

static const struct snd_pcm_hw_constraint_list rate_list = {
	.count = ARRAY_SIZE(rates),
	.list = rates,
};

static int set_open_line(struct snd_soc_pcm_runtime *rtd, bool is_open)
{
	struct pcm512x_card *hat = snd_soc_card_get_drvdata(rtd->card);
	int ret;

	if (!hat->open_line)
		return 0;
	ret = snd_soc_component_update_bits(snd_soc_rtd_to_codec(rtd, 0)->component, PCM512x_GPIO_CONTROL_1,
					    BIT(hat->open_line - 1), is_open ? BIT(hat->open_line - 1) : 0);
	return ret < 0 ? ret : 0;
}

static int pcm512x_card_startup(struct snd_pcm_substream *substream)
{
	struct snd_soc_pcm_runtime *rtd = snd_soc_substream_to_rtd(substream);
	struct pcm512x_card *hat = snd_soc_card_get_drvdata(rtd->card);
	int ret;

	ret = set_open_line(rtd, true);
	if (ret || !hat->oscillators)
		return ret;
	/* The codec's driver allows rates up to a 64th of the clock: that of the last stream may have been the lower. */
	ret = clk_set_rate(hat->oscillators, 48000);
	if (ret < 0)
		return ret;
	return snd_pcm_hw_constraint_list(substream->runtime, 0, SNDRV_PCM_HW_PARAM_RATE, &rate_list);
}

static void pcm512x_card_shutdown(struct snd_pcm_substream *substream)
{
	set_open_line(snd_soc_substream_to_rtd(substream), false);
}

static int choose_oscillator(struct pcm512x_card *hat, struct snd_soc_component *codec, unsigned int rate)
{
	bool of_44k = rate % 11025 == 0;
	int changed;

	/* Both in one register: never both at once, as their outputs are connected. */
	changed = snd_soc_component_update_bits(codec, PCM512x_GPIO_CONTROL_1, LINES, of_44k ? LINE_44K : LINE_48K);
	if (changed < 0)
		return changed;
	if (changed)
		usleep_range(OSCILLATOR_START, OSCILLATOR_START + 1000);
	return clk_set_rate(hat->oscillators, rate);
}

static int pcm512x_card_hw_params(struct snd_pcm_substream *substream, struct snd_pcm_hw_params *params)
{
	struct snd_soc_pcm_runtime *rtd = snd_soc_substream_to_rtd(substream);
	struct pcm512x_card *hat = snd_soc_card_get_drvdata(rtd->card);

	if (!hat->oscillators)
		return 0;
	return choose_oscillator(hat, snd_soc_rtd_to_codec(rtd, 0)->component, params_rate(params));
}

static const struct snd_soc_ops pcm512x_card_ops = {
	.startup = pcm512x_card_startup,
	.shutdown = pcm512x_card_shutdown,
	.hw_params = pcm512x_card_hw_params,
};

/* Makes one of the codec's GPIOs an output of GPIO_CONTROL_1, low at first. */
static int make_output(struct snd_soc_component *codec, unsigned int line)
{
	int ret;

	ret = snd_soc_component_update_bits(codec, PCM512x_GPIO_OUTPUT_1 + line - 1, PCM512x_GxSL, PCM512x_GxSL_REG);
	if (ret < 0)
		return ret;
	ret = snd_soc_component_update_bits(codec, PCM512x_GPIO_EN, BIT(line - 1), BIT(line - 1));
	return ret < 0 ? ret : 0;
}

static int pcm512x_card_init(struct snd_soc_pcm_runtime *rtd)
{
	struct pcm512x_card *hat = snd_soc_card_get_drvdata(rtd->card);
	struct snd_soc_dai *codec = snd_soc_rtd_to_codec(rtd, 0);
	int ret;

	/* Two slots of 32 bits, whatever the samples have. */
	ret = snd_soc_dai_set_bclk_ratio(snd_soc_rtd_to_cpu(rtd, 0), 64);
	if (ret < 0)
		return ret;
	if (hat->open_line) {
		ret = make_output(codec->component, hat->open_line);
		if (ret)
			return ret;
	}
	if (!hat->oscillators)
		return 0;
	ret = snd_soc_dai_set_bclk_ratio(codec, 64);
	if (ret < 0)
		return ret;
	ret = make_output(codec->component, 3);
	return ret ? ret : make_output(codec->component, 6);
}

static int pcm512x_card_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct pcm512x_card *hat;

	hat = devm_kzalloc(dev, sizeof(*hat), GFP_KERNEL);
	if (!hat)
		return -ENOMEM;
	hat->oscillators = devm_clk_get_optional(dev, NULL);
	if (IS_ERR(hat->oscillators))
		return dev_err_probe(dev, PTR_ERR(hat->oscillators), "The oscillators cannot be used\n");
	of_property_read_u32(dev->of_node, "high-while-open", &hat->open_line);
	if (hat->open_line > 6)
		return dev_err_probe(dev, -EINVAL, "high-while-open is not 1 to 6\n");
	hat->base.link.name = hat->base.link.stream_name = "PCM512x";
	hat->base.link.dai_fmt = SND_SOC_DAIFMT_I2S | SND_SOC_DAIFMT_NB_NF |
				 (hat->oscillators ? SND_SOC_DAIFMT_CBP_CFP : SND_SOC_DAIFMT_CBC_CFC);
	hat->base.link.playback_only = 1;
	hat->base.link.init = pcm512x_card_init;
	hat->base.link.ops = &pcm512x_card_ops;
	snd_soc_card_set_drvdata(&hat->base.card, hat);
	return tonearm_register_card(dev, &hat->base, "pcm512x-hifi");
}

static const struct of_device_id oscillators_match[] = {
	{ .compatible = "tonearm,pcm512x-oscillators" },
	{ }
};
MODULE_DEVICE_TABLE(of, oscillators_match);

static const struct of_device_id pcm512x_card_match[] = {
	{ .compatible = "tonearm,pcm512x-card" },
	{ }
};
MODULE_DEVICE_TABLE(of, pcm512x_card_match);

static struct platform_driver oscillators_driver = {
	.driver = { .name = "tonearm-pcm512x-oscillators", .of_match_table = oscillators_match },
	.probe = oscillators_probe,
};

static struct platform_driver pcm512x_card_driver = {
	.driver = { .name = "tonearm-pcm512x-card", .of_match_table = pcm512x_card_match },
	.probe = pcm512x_card_probe,
};

static struct platform_driver *const drivers[] = { &oscillators_driver, &pcm512x_card_driver };

static int __init pcm512x_card_module_init(void)
{
	return platform_register_drivers(drivers, ARRAY_SIZE(drivers));
}
module_init(pcm512x_card_module_init);

static void __exit pcm512x_card_module_exit(void)
{
	platform_unregister_drivers(drivers, ARRAY_SIZE(drivers));
}
module_exit(pcm512x_card_module_exit);

MODULE_DESCRIPTION("Sound card of a HAT with a PCM512x and oscillators, or an amplifier");
MODULE_AUTHOR("Tonearm maintainers");
MODULE_LICENSE("GPL");
