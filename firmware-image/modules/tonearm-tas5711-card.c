// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sound card of a HAT with one TAS5711, which drives two speakers, or with two, each of which drives one with its
 * outputs in parallel (PBTL). The I2S controller gives the clocks; BCLK is the chips' MCLK, too.
 *
 * Device tree: compatible "tonearm,tas5711-card", model, tonearm,i2s, tonearm,codec: the chip, or that of the left and
 * that of the right speaker. Lines for reset and power-down are the codec's, or hogs: its driver writes to the chip
 * first.
 *
 * Copyright: Tonearm maintainers
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <sound/pcm_params.h>

#include "tas571x.h"
#include "tonearm-card.h"

/* INPUT_MUX: both channels in AD modulation. The rest is as after a reset. */
#define LEFT_TO_1_RIGHT_TO_2 0x00017772
#define RIGHT_TO_1_LEFT_TO_2 0x00107772
/* PWM_CH_SDN_GROUP and PWM_MUX, for outputs in parallel: all four are of channel 1. */
#define PARALLEL_SHUTDOWN 0x3a
#define PARALLEL_OUTPUTS 0x01103245

struct setting {
	unsigned int reg, value;
};

/* As Raspberry Pi OS has it. Nothing else says that the speakers of a PiFi Mini 210 are crossed. */
static const struct setting stereo[] = {
	{ TAS571X_INPUT_MUX_REG, RIGHT_TO_1_LEFT_TO_2 },
};

static const struct setting left[] = {
	{ TAS571X_PWM_CH_SDN_GROUP_REG, PARALLEL_SHUTDOWN },
	{ TAS571X_PWM_MUX_REG, PARALLEL_OUTPUTS },
	{ TAS571X_INPUT_MUX_REG, LEFT_TO_1_RIGHT_TO_2 },
};

static const struct setting right[] = {
	{ TAS571X_PWM_CH_SDN_GROUP_REG, PARALLEL_SHUTDOWN },
	{ TAS571X_PWM_MUX_REG, PARALLEL_OUTPUTS },
	{ TAS571X_INPUT_MUX_REG, RIGHT_TO_1_LEFT_TO_2 },
};

/* The chip finds its rate itself. With 64 fs as MCLK it finds these alone. */
static const unsigned int rates[] = { 44100, 48000 };

static const struct snd_pcm_hw_constraint_list rate_list = {
	.count = ARRAY_SIZE(rates),
	.list = rates,
};

static int tas5711_card_startup(struct snd_pcm_substream *substream)
{
	return snd_pcm_hw_constraint_list(substream->runtime, 0, SNDRV_PCM_HW_PARAM_RATE, &rate_list);
}

static const struct snd_soc_ops tas5711_card_ops = {
	.startup = tas5711_card_startup,
};

static int apply(struct snd_soc_dai *codec, const struct setting *settings, int count)
{
	int i, ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = snd_soc_component_write(codec->component, settings[i].reg, settings[i].value);
	return ret;
}

static int tas5711_card_init(struct snd_soc_pcm_runtime *rtd)
{
	int ret;

	/* Two slots of 32 bits, whatever the samples have: MCLK of 64 fs. */
	ret = snd_soc_dai_set_bclk_ratio(snd_soc_rtd_to_cpu(rtd, 0), 64);
	if (ret < 0)
		return ret;
	if (rtd->dai_link->num_codecs == 1)
		return apply(snd_soc_rtd_to_codec(rtd, 0), stereo, ARRAY_SIZE(stereo));
	ret = apply(snd_soc_rtd_to_codec(rtd, 0), left, ARRAY_SIZE(left));
	return ret ? ret : apply(snd_soc_rtd_to_codec(rtd, 1), right, ARRAY_SIZE(right));
}

static int tas5711_card_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct tonearm_card *hat = devm_kzalloc(dev, sizeof(*hat), GFP_KERNEL);

	if (!hat)
		return -ENOMEM;
	hat->link.name = hat->link.stream_name = "TAS5711";
	hat->link.dai_fmt = SND_SOC_DAIFMT_I2S | SND_SOC_DAIFMT_NB_NF | SND_SOC_DAIFMT_CBC_CFC;
	hat->link.playback_only = 1;
	hat->link.init = tas5711_card_init;
	hat->link.ops = &tas5711_card_ops;
	return tonearm_register_card(dev, hat, "tas571x-hifi");
}

static const struct of_device_id tas5711_card_match[] = {
	{ .compatible = "tonearm,tas5711-card" },
	{ }
};
MODULE_DEVICE_TABLE(of, tas5711_card_match);

static struct platform_driver tas5711_card_driver = {
	.driver = {
		.name = "tonearm-tas5711-card",
		.of_match_table = tas5711_card_match,
	},
	.probe = tas5711_card_probe,
};
module_platform_driver(tas5711_card_driver);

MODULE_DESCRIPTION("Sound card of a HAT with one TAS5711 or two");
MODULE_AUTHOR("Tonearm maintainers");
MODULE_LICENSE("GPL");
